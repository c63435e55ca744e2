"""The paper's experiments, rerun by one command, with every method it compares.

    plan        which tables, datasets, models, methods, queries, seeds
    experiments which tasks each table needs, how one is measured, what they show
    runner      does the tasks, in one process or several
    results     a line of JSON for every finished task; an interrupted run goes on
    judge       measures anybody's counterfactuals
    findings    what was found, by cell and method
    record      the paper's printed numbers
    outliers    how unusual an answer is, by measures that macex does not rank by
    code        which version of the code measured something
    story       what the numbers say, in a few sentences
    report      Markdown and one page of HTML
    arena       every method on the same models, rows, budgets and measures

`register` lets a method of your own take part.
"""

from __future__ import annotations

from macex.bench.methods import register

__all__ = ["register"]
