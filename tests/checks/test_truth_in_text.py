"""What is said is true: applied to the row exactly as it is written, it flips the model.

The texts are parsed as a person would read them. Nothing is taken from the answer itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import macex as mx

Said = dict[str, str]  # column -> new value, as text
ARROW = " \N{RIGHTWARDS ARROW} "
NEW = re.compile(r"(?:\N{RIGHTWARDS ARROW}\s*)?(\S+?)(?= GB|holds|tested|follows|\s*$)")


def customers(n: int = 600) -> pd.DataFrame:
    """Customers: a total that is months times price, one-hot colours, numbers without a grid."""
    draw = np.random.default_rng(7)
    months, price = draw.integers(1, 72, n), draw.uniform(18, 118, n).round(2)
    colour = draw.integers(0, 3, n)
    rows = pd.DataFrame({"months": months, "price": price, "load": draw.normal(0.5, 0.2, n)})
    rows["plan"] = draw.choice(["basic", "plus", "max"], n)
    rows["fee"] = rows["plan"].map({"basic": 0, "plus": 5, "max": 9})
    for at, name in enumerate(("red", "green", "blue")):
        rows[f"colour_{name}"] = (colour == at).astype(int)
    rows["total"] = (rows["months"] * rows["price"]).round(2)
    return rows


ROWS = customers()


def score(rows: pd.DataFrame) -> np.ndarray:
    points = rows["total"] / 3000 + rows["load"] + rows["fee"] / 7
    points = points + 0.4 * rows["colour_blue"] - 0.2 * rows["colour_red"]
    return (1 / (1 + np.exp(-8 * (points - 2.1)))).to_numpy()


WISHES: dict[str, dict[str, Any]] = {
    "nothing": {"constraints": mx.Constraints(only=("load", "colour", "price"))},
    "derived": {"constraints": mx.Constraints(derived={"total": "round(months * price, 2)"})},
    "derived alone": {
        "constraints": mx.Constraints(
            derived={"total": "months * price"}, only=("months", "price", "total")
        )
    },
    "groups": {"constraints": mx.Constraints(groups=[("fee", "plan")], fixed=("load", "months"))},
    "structure": {"structure": "keep", "constraints": mx.Constraints(fixed=("load", "colour"))},
    "causes": {"causes": mx.Causes(mechanisms={"total": "months * price + u"})},
    "fitted causes": {"causes": mx.Causes({"total": ["months", "price"], "fee": ["plan"]})},
    "named": {"names": {"months": "months with us", "load": mx.Name("load", unit="GB")}},
}


@pytest.fixture(scope="module", params=WISHES, ids=str)
def found(request: pytest.FixtureRequest) -> mx.Explanations:
    explainer = mx.Explainer(score, ROWS, classes=("stays", "leaves"), **WISHES[request.param])
    return explainer.explain(ROWS.head(40), n=2)


def applied(explanation: mx.Explanation, said: Said) -> pd.DataFrame:
    """The row with what was said written over it; a block of columns by its category."""
    row = explanation.query.copy()
    for column, text in said.items():
        if column == "colour":
            for name in ("red", "green", "blue"):
                row[f"colour_{name}"] = int(name == text)
        else:
            row[column] = text if column == "plan" else ROWS[column].dtype.type(text)
    return row[ROWS.columns].astype(ROWS.dtypes)


def flips(explanation: mx.Explanation, said: Said) -> bool:
    decision = "leaves" if score(applied(explanation, said))[0] > 0.5 else "stays"
    return decision != explanation.label


KNOWN = {"months with us": "months", **{name: name for name in [*ROWS.columns, "colour"]}}


def read(text: str) -> str:
    return text.removesuffix(" GB")


def printed(one: mx.Explanation) -> Iterator[Said]:
    """The lines of `print`: `months 3 -> 12, total 210 -> 840 (follows)`."""
    text = re.split(r"not kept: |\d\. breaks: ", " ".join(repr(one).splitlines()[1:]))[0]
    for answer in re.split(r" \d\. ", f" {' '.join(text.split())} ")[1:]:
        pairs = re.findall(rf"({'|'.join(KNOWN)}) \S+(?: GB)?{ARROW}(\S+?)(?=,| |$)", answer)
        yield {KNOWN[name]: read(after) for name, after in pairs}


CLAUSE = re.compile(r"(?:If |, | and |so that )([a-z ]+?) were (?:about )?(\S+)(?: GB)? instead")
GERMAN = re.compile(
    rf"(?:Wäre | und | damit auch |, )({'|'.join(KNOWN)}) (?:etwa )?(\S+)(?: GB)? statt"
)


def clauses(sentences: list[str]) -> Iterator[Said]:
    for sentence in sentences:
        said = CLAUSE.findall(sentence.partition(", the model")[0])
        yield {KNOWN[name.removeprefix("so that ")]: after for name, after in said}


def spoken(one: mx.Explanation) -> Iterator[Said]:
    """The sentences: `If months were 12 instead of 3, so that total were 840 instead of 210`."""
    return clauses(one.sentences())


def in_german(one: mx.Explanation) -> Iterator[Said]:
    """The same in German, with a comma in numbers."""
    for sentence in one.sentences("de"):
        said = GERMAN.findall(sentence.partition(", hätte")[0])
        yield {KNOWN[name]: after.replace(",", ".") for name, after in said}


def lettered(one: mx.Explanation) -> Iterator[Said]:
    """What a letter lists as other decisions."""
    return clauses([line[2:] for line in one.letter().splitlines() if line.startswith("- If ")])


def tabled(one: mx.Explanation, row: int, changes: pd.DataFrame) -> Iterator[Said]:
    """The lines of `to_changes()`."""
    mine = changes[changes["cf.row"] == row]
    for _, lines in mine.groupby("cf.rank"):
        yield {c: str(v) for c, v in zip(lines["column"], lines["after"], strict=True)}


class Tables(HTMLParser):
    """The rows of the tables of a card, as texts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[list[str]] = []
        self.cell = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.lines.append([])
        if tag in ("td", "th") and self.lines:
            self.cell = True
            self.lines[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.cell &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.lines[-1][-1] += data


def carded(one: mx.Explanation) -> Iterator[Said]:
    """The tables of the card: a column, its value now and what it would be."""
    for answer in one.counterfactuals:
        parser = Tables()
        parser.feed(answer._repr_html_())
        told = [line for line in parser.lines if len(line) > 2 and line[0] in KNOWN]
        yield {KNOWN[line[0]]: read(NEW.search(line[2])[1]) for line in told}


def reported(one: mx.Explanation) -> Iterator[Said]:
    """The table of all answers in the card of the row, which reports and the page show, too."""
    parser = Tables()
    parser.feed(one._repr_html_())
    said: list[Said] = []
    for line in parser.lines:
        if len(line) == 1 and line[0].startswith("Answer "):
            said.append({})
        elif len(line) > 2 and line[0] in KNOWN:
            said = said or [{}]
            said[-1][KNOWN[line[0]]] = read(NEW.search(line[2])[1])
    yield from said


RANGE = re.compile(r"(?:at least (\S+)|at most (\S+)|(\S+) to (\S+)|(\S+))")


def corners(box: mx.explanation.box.Box) -> Iterator[Said]:
    """The ends of the ranges of a box as they are told: `months at most 12 and plan basic`."""
    parts = re.split(r", | and ", box.text)
    said = [part.split(" ", 1) for part in parts if not part.startswith("any ")]
    ends = [
        [(name, end) for end in dict.fromkeys(RANGE.fullmatch(text).groups()) if end]
        for name, text in said
    ]
    yield from (dict(chosen) for chosen in product(*ends))


def test_the_ends_of_a_box_flip_the_model():
    wish = mx.Constraints(only=("fee", "colour", "price", "load"))
    explainer = mx.Explainer(
        score, ROWS, classes=("stays", "leaves"), structure="ignore", constraints=wish
    )
    boxes = 0
    for _, one in needing(explainer.explain(ROWS.head(40), n=2)):
        for answer in one.counterfactuals:
            for said in corners(answer.box):
                open_ = {r.column: str(c.after) for r, c in paired(answer) if r.column not in said}
                assert flips(one, open_ | said), (said, one)
                boxes += 1
    assert boxes > 50


def paired(answer: mx.Counterfactual) -> list[tuple[Any, mx.Change]]:
    changes = {change.column: change for change in answer.changes}
    return [(one, changes[one.column]) for one in answer.box.ranges]


def needing(found: mx.Explanations) -> list[tuple[int, mx.Explanation]]:
    needy = [
        (at, one)
        for at, one in enumerate(found)
        if any(answer.changes for answer in one.counterfactuals)
    ]
    assert len(needy) > 15
    return needy


@pytest.mark.parametrize("parsed", [printed, spoken, in_german, lettered, carded, reported])
def test_what_is_said_flips_the_model(found, parsed: Callable[[mx.Explanation], Iterator[Said]]):
    for _, one in needing(found):
        answers = list(parsed(one))
        assert len(answers) == len(one.counterfactuals)
        for said in answers:
            assert said, one
            assert flips(one, said), (said, one)


def test_the_table_of_changes_flips_the_model(found):
    changes = found.to_changes()
    for row, one in needing(found):
        for said in tabled(one, row, changes):
            assert flips(one, said), (said, one)


def test_json_flips_the_model(found):
    import json

    for _, one in needing(found):
        for answer in json.loads(one.to_json())["counterfactuals"]:
            parts = answer["changes"] + answer.get("consequences", [])
            assert flips(one, {part["column"]: str(part["after"]) for part in parts})


def test_an_interval_that_is_told_holds_at_its_ends(found):
    for _, one in needing(found):
        for answer in one.counterfactuals:
            ends = re.findall(
                r"(?:holds|tested) from (\S+?)(?: GB)? to (\S+?)(?= GB|<)",
                str(answer._repr_html_()),
            )
            spans = [c for c in answer.changes if c.interval and c.interval.low != c.interval.high]
            assert len(ends) == len(spans)
            for change, pair in zip(spans, ends, strict=True):
                low, high = (float(end) for end in pair)
                assert change.interval.low <= low <= high <= change.interval.high
