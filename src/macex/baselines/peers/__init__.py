"""Other people's programs, each in a process and an environment of its own.

worker      the script that such a process runs, and the messages on its pipe
programs    what the worker does with each program; they import nothing of macex
process     the parent's side: starting a worker, asking it, ending it
talk        a query, its goal and its constraints, told to a program in codes
peer        a baseline whose search is such a program
"""
