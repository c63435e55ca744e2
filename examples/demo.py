"""A tour in half a minute: what would have to be different for a model to see an income otherwise?

A gradient boosting model learns from census rows who earns more than 50K. Two real rows it has
never seen, one decided each way, are explained by each of the three searches. Then: an explanation
under constraints, a question without an answer, and a report of twenty rows.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import macex as mx
from macex.datasets import load
from macex.render.text import aligned, paper_table

SHORT = {"marital_status": "marital", "hours_per_week": "hours"}
SPOKEN = {"marital": "marital status", "hours": "hours per week"}
SEARCHES = ("exhaustive", "reinforce", "gradientless")
WIDTH = 100


def main() -> None:
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
    show_searches(explainers, one_of_each(model, rows))
    show_constraints(explainers["exhaustive"], rows)
    show_no_answer(explainers["exhaustive"], rows)
    write_report(explainers["exhaustive"], rows, Path("macex-report.html"))
    print(f"\n{time.perf_counter() - began:.0f} s in all")


def fitted(rows: pd.DataFrame, income: np.ndarray) -> Pipeline:
    """A gradient boosting model on the raw columns."""
    words = list(rows.select_dtypes("str").columns)
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((ordinal, words), remainder="passthrough")
    trees = HistGradientBoostingClassifier(
        categorical_features=list(range(len(words))), random_state=0
    )
    return make_pipeline(columns, trees).fit(rows, income)


def one_of_each(model: Pipeline, rows: pd.DataFrame) -> pd.DataFrame:
    """The first row that is decided each way."""
    decided = model.predict(rows)
    return rows.iloc[[int(np.argmax(decided == label)) for label in model.classes_]]


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
                print(f"- {sentence}")
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


def show_constraints(explainer: mx.Explainer, rows: pd.DataFrame) -> None:
    """What is out of a person's hands stays, and schooling takes time."""
    title("With constraints: what could this person do?")
    constraints = mx.Constraints(
        fixed=["race", "gender", "marital"],
        increase=["age"],
        ranges={"hours": (20, 60)},
        rules=["if education != old(education) then age >= old(age) + 2"],
    )
    print(constraints)
    found = explainer.explain(rows, want=">50K", n=2, constraints=constraints)
    refused = [explanation for explanation in found if explanation.label == "<=50K"]
    print(f"\n{refused[0]}")


def show_no_answer(explainer: mx.Explainer, rows: pd.DataFrame) -> None:
    """No answer is an answer: the reason, the nearest miss, and what stands in the way."""
    title("Without an answer: only the hours may change, and stay below 50")
    constraints = mx.Constraints(only=["hours"], ranges={"hours": (None, 50)})
    found = explainer.explain(rows, want=">50K", constraints=constraints, diagnose=True)
    unanswered = [explanation for explanation in found if explanation.status != "found"]
    print(unanswered[0])


def write_report(explainer: mx.Explainer, rows: pd.DataFrame, path: Path) -> None:
    """A page in one file, and what the twenty rows have in common."""
    title("A report of twenty rows")
    found = explainer.explain(rows, n=3)
    print(found.summary())
    found.to_html(path, title="Income: what would have to be different")
    print(f"\nWritten to {path.resolve()}")


def title(text: str) -> None:
    print(f"\n\n{text}\n{'-' * len(text)}")


def narrow(table: str) -> str:
    """The table with a first column of twelve characters instead of sixteen."""
    lines = [(line[:16].replace("Counterfactual", "Answer"), line[16:]) for line in table.split("\n")]
    return "\n".join(f"{head.strip():<12}{cells}" for head, cells in lines)


if __name__ == "__main__":
    main()
