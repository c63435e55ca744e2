"""One file a program, read by the worker alone: each defines `Program(ask, options)`.

`ask(codes)` returns the chance that each row reaches the goal. The verbs are those of the messages:
`open` takes the training rows, `goal` which of them meet a goal, and `explain` returns rows.
"""
