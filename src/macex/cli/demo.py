"""A tour in half a minute: what would have to be different for a model to see an income otherwise?

A gradient boosting model learns from census rows who earns more than 50K. Two real rows it has
never seen, one decided each way, are explained by each of the three searches. Then: an explanation
under constraints, a question without an answer, and a report of twenty rows decided alike.
"""

from __future__ import annotations

import time
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

import macex as mx
from macex.cli.colours import say
from macex.datasets import load
from macex.engine.options import BUILT_IN
from macex.render.text import aligned, paper_table
from macex.stages.search.protocol import EXHAUSTIVE

SHORT = {"marital_status": "marital", "hours_per_week": "hours"}
SPOKEN = {"marital": "marital status", "hours": "hours per week"}
SEARCHES = tuple(BUILT_IN)
WIDTH = 100


def main() -> None:
    """A tour in half a minute: real census rows, three searches, constraints, and a report.

    The report is written to macex-report.html in the present folder.
    """
    with threadpool_limits(1):  # threads that wait for each other only slow down small calls
        tour()


def tour() -> None:
    """Every part, one after the other."""
    began = time.perf_counter()
    adult = load("adult")
    frame = adult.frame.rename(columns=SHORT)
    income = np.array(adult.labels)[adult.label]
    train, test = adult.split()
    model = fitted(frame.iloc[train], income[train])
    right = float(np.mean(model.predict(frame.iloc[test]) == income[test]))
    print(f"Data   {adult.source}")
    print(f"Model  gradient boosting on {len(train):,} rows; right on {right:.1%} of {len(test):,}")

    rows = frame.iloc[adult.rows(20)]
    explainers = {
        name: mx.Explainer(model, frame.iloc[train], method=name, names=SPOKEN) for name in SEARCHES
    }
    show_searches(explainers, rows.iloc[[9, 3]])
    show_constraints(explainers[EXHAUSTIVE], rows.iloc[[9]])
    show_no_answer(explainers[EXHAUSTIVE], rows.iloc[[9]])
    more = frame.iloc[adult.rows(80)]
    refused = more[model.predict(more) == "<=50K"].head(20)
    write_report(explainers[EXHAUSTIVE], refused, Path("macex-report.html"))
    print(f"\n{time.perf_counter() - began:.0f} s in all")


def fitted(rows: pd.DataFrame, income: np.ndarray) -> Pipeline:
    """A gradient boosting model on the raw columns."""
    words = list(rows.select_dtypes(exclude="number").columns)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((ordinal, words), remainder="passthrough")
    trees = HistGradientBoostingClassifier(
        categorical_features=list(range(len(words))), random_state=0
    )
    return make_pipeline(columns, trees).fit(rows, income)


def show_searches(explainers: dict[str, mx.Explainer], rows: pd.DataFrame) -> None:
    """The same two rows by every search, as tables and in words, and what they cost."""
    costs = [["", "changes", "proximity", "minimal", "model calls", "rows scored", "seconds"]]
    for name, explainer in explainers.items():
        title(f"Search: {name}")
        began = time.perf_counter()
        found = explainer.explain(rows, n=3)
        seconds = time.perf_counter() - began
        for explanation in found:
            print(f"\nThe model decides {explanation.label}.")
            print(narrow(paper_table(explanation)))
            for sentence in explanation.sentences():
                show(f"- {sentence}")
        costs.append([name, *measured(found, seconds)])
    title("What it cost, and what it bought: means over the two rows, three answers each")
    print("\n".join(aligned(costs)))


def measured(found: mx.Explanations, seconds: float) -> list[str]:
    """One line of the table of costs; `minimal` is the share of rows with a proof."""
    means = found.metrics()
    return [
        f"{means['sparsity']:.2f}",
        f"{means['proximity']:.2f}",
        f"{means['minimal']:.0%}",
        f"{means['calls']:.0f}",
        f"{means['rows']:.0f}",
        f"{seconds:.1f}",
    ]


def show_constraints(explainer: mx.Explainer, row: pd.DataFrame) -> None:
    """What is out of a person's hands stays, and schooling takes time."""
    title("With constraints: what could she do?")
    constraints = mx.Constraints(
        fixed=("race", "gender", "marital"),
        increase=("age",),
        ranges={"age": (None, 45), "hours": (20, 55)},
        rules=("if education != old(education) then age >= old(age) + 2",),
    )
    show(str(constraints))
    show(str(explainer.explain(row, want=">50K", n=2, constraints=constraints)[0]))


def show_no_answer(explainer: mx.Explainer, row: pd.DataFrame) -> None:
    """No answer is an answer: the reason, the nearest miss, and what stands in the way."""
    title("Without an answer: what if she could change nothing but her hours, and only to 50?")
    constraints = mx.Constraints(only=("hours",), ranges={"hours": (None, 50)})
    found = explainer.explain(row, want=">50K", constraints=constraints, diagnose=True)
    show(str(found[0]))


def write_report(explainer: mx.Explainer, rows: pd.DataFrame, path: Path) -> None:
    """A page in one file, what the rows have in common, and common actions for all of them."""
    title(f"A report of {len(rows)} rows that the model decides <=50K")
    found = explainer.explain(rows, n=3, want=">50K")
    say(found.summary())
    found.to_html(path, title="Income: what would have to be different")
    print(f"\nWritten to {path.resolve()}")


def title(text: str) -> None:
    """Print a heading."""
    say(f"\n\n{text}\n{'-' * len(text)}")


def show(text: str) -> None:
    """Print text, its lines cut to the width."""
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        print(fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False))


def narrow(table: str) -> str:
    """The table with a first column of nine characters instead of sixteen."""
    lines = [(line[:16], line[16:]) for line in table.split("\n")]
    heads = [
        head.replace("Counterfactual", "Answer").replace("Top actions", "Actions").strip()
        for head, _ in lines
    ]
    return "\n".join(f"{head:<9}{line[1]}" for head, line in zip(heads, lines, strict=True))
