"""What must work in a fresh environment with nothing but the wheel: `make wheel` runs it there."""

from __future__ import annotations

import sys
from pathlib import Path

import macex as mx
from macex.datasets import load


def model(people):
    return (people["hours_per_week"] >= 45) * 0.5 + (people["education"] == "Masters") * 0.25


def main() -> None:
    """Explain rows of a dataset that is in the wheel, and write a page by templates that are."""
    adult = load("adult")
    rows = adult.frame.head(200)
    found = mx.Explainer(model, rows, classes=adult.labels).explain(rows.head(5), n=2)
    found.to_html(Path("smoke.html"))
    if "site-packages" not in mx.__file__:
        sys.exit(f"not the wheel was tried, but {mx.__file__}")
    if found[0].status != "found":
        sys.exit(f"the wheel does not explain: {found[0]}")
    sys.stdout.write(f"{found[0]}\n{mx.__file__}\n")


if __name__ == "__main__":
    main()
