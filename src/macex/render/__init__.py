"""One look for terminal, notebook and report: text, sentences, HTML and plots.

What is rendered comes in as plain results (an explanation, a batch, a summary) and is only read.
"""
