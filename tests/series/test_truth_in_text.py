"""What is said of a series is true: applied exactly as it is written, it flips the model.

The texts are parsed as a person would read them. Nothing is taken from the answer itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, NamedTuple

import numpy as np
import pytest

import macex as mx
from series.machines import CLASSES, NAMES, bump_and_level, explainer, made_cases


class Stretch(NamedTuple):
    """A part of a channel that is as in a training case, or some of the way to it."""

    channel: str
    first: int
    last: int
    percent: float
    case: int
    low: float = -np.inf
    high: float = np.inf
    way: str = ""


TRAIN, QUERIES = made_cases(), made_cases(18, seed=1)
WISHES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "no fine-tuning": {"finetune": None},
    "several stretches": {"finetune": mx.Segments(stretches=3)},
    "fixed times": {"constraints": mx.SeriesConstraints(fixed_times=[(13, 16)])},
    "fixed times, no fine-tuning": {
        "finetune": None,
        "constraints": mx.SeriesConstraints(fixed_times={"sensor 2": [(13, 16)], "*": [(0, 4)]}),
    },
    "limits": {
        "constraints": mx.SeriesConstraints(
            ranges={"*": (-0.5, 2.6, 0, 30), "sensor 4": (None, 2.25)}, increase={2: [(8, 20)]}
        )
    },
    "directions": {
        "finetune": mx.Segments(stable=0),
        "constraints": mx.SeriesConstraints(increase=[1, 2], decrease={4: [(0, 10)]}),
    },
    "groups": {"constraints": mx.SeriesConstraints(groups=[["sensor 2", "sensor 4"]])},
}
WANTS = ["bump", "raised", None]


@pytest.fixture(scope="module", params=WISHES, ids=str)
def found(request: pytest.FixtureRequest) -> list[tuple[int, Any]]:
    ask = explainer(**WISHES[request.param])
    every = [
        (at, one) for want in WANTS for at, one in enumerate(ask.explain(QUERIES, n=2, want=want))
    ]
    needy = [(at, one) for at, one in every if any(c.changes for c in one.counterfactuals)]
    assert len(needy) > 20
    return needy


def flips(at: int, said: list[Stretch], explanation: Any) -> bool:
    """Whether the case with what was said written over it is an answer, and decided as it says."""
    case = QUERIES[at].copy()
    for one in said:
        place, when = NAMES.index(one.channel), slice(one.first, one.last + 1)
        own, other = QUERIES[at, place, when], TRAIN[one.case, place, when]
        new = np.clip(own + one.percent / 100 * (other - own), one.low, one.high)
        keep = {"up": np.maximum, "down": np.minimum}.get(one.way, lambda new, _: new)
        case[place, when] = keep(new, own)
    assert any(np.allclose(case, one.sample, atol=1e-5) for one in explanation.counterfactuals)
    decision = CLASSES[int(bump_and_level(case[None])[0].argmax())]
    return decision != explanation.label and decision in {
        c.label for c in explanation.counterfactuals
    }


AT_LEAST, AT_MOST = (
    rf"{word} (-?[\d.,]*\d)" for word in ("(?:at least|mindestens)", "(?:at most|höchstens)")
)
UP, DOWN = "nowhere lower|nirgends niedriger", "nowhere higher|nirgends höher"


def stretch(
    channel: str, times: tuple[str, str, str], percent: str, case: str, limit: str
) -> Stretch:
    first, last, only = times
    share = float(percent.replace(",", ".")) if percent else 100.0
    low, high = (re.search(pattern, limit) for pattern in (AT_LEAST, AT_MOST))
    return Stretch(
        *(channel, int(first or only), int(last or only), share, int(case)),
        low=float(low[1].replace(",", ".")) if low else -np.inf,
        high=float(high[1].replace(",", ".")) if high else np.inf,
        way="up" if re.search(UP, limit) else "down" if re.search(DOWN, limit) else "",
    )


SENSOR = r"(sensor \d)"
ONE_LIMIT = (
    r"(?:at least|at most|mindestens|höchstens) -?[\d.,]*\d"
    r"|nowhere (?:lower|higher) than it is|nirgends (?:niedriger|höher) als jetzt"
)
LIMIT = rf"(?:, (?:but|aber) ((?:(?: and | und )?(?:{ONE_LIMIT}))+))?"
SPOKEN = re.compile(
    rf"{SENSOR} (?:between (\d+) and (\d+)|at (\d+)) were "
    rf"(?:as in|(\S+) % of the way to what it is in) case (\d+)(?: \(class \w+\))?{LIMIT}"
)
GERMAN = re.compile(
    rf"{SENSOR} (?:von (\d+) bis (\d+)|bei (\d+)) "
    rf"(?:wie in|zu (\S+) % wie in) Fall (\d+)(?: \(Klasse \w+\))?{LIMIT}"
)
LISTED = re.compile(
    rf"{SENSOR} time (?:(\d+) to (\d+)|(\d+)), "
    rf"as in case (\d+)(?: \(\w+\))?(?:, mixed in by (\S+) %)?{LIMIT}"
)


def spoken(one: Any) -> Iterator[list[Stretch]]:
    for sentence in one.sentences():
        yield [stretch(c, (a, b, o), p, n, w) for c, a, b, o, p, n, w in SPOKEN.findall(sentence)]


def in_german(one: Any) -> Iterator[list[Stretch]]:
    for sentence in one.sentences("de"):
        yield [stretch(c, (a, b, o), p, n, w) for c, a, b, o, p, n, w in GERMAN.findall(sentence)]


def printed(one: Any) -> Iterator[list[Stretch]]:
    text = " ".join(" ".join(repr(one).splitlines()[1:]).split())
    for answer in re.split(r" \d\. ", f" {text}")[1:]:
        yield [stretch(c, (a, b, o), p, n, w) for c, a, b, o, n, p, w in LISTED.findall(answer)]


def in_json(one: Any) -> Iterator[list[Stretch]]:
    for answer in json.loads(one.to_json())["counterfactuals"]:
        yield [
            Stretch(
                *(c["channel"], c["start"], c["stop"] - 1, 100 * c["blend"], c["case"]),
                low=limit.get("low", -np.inf),
                high=limit.get("high", np.inf),
                way=limit.get("direction", ""),
            )
            for c in answer["changes"]
            for limit in [c.get("limit", {})]
        ]


CELLS = re.compile(
    rf'<th scope="row">{SENSOR}</th><td[^>]*>time (?:(\d+) to (\d+)|(\d+))</td>.*?'
    rf"<mark>as in case (\d+)(?: \(\w+\))?(?:, mixed in by (\S+) %)?{LIMIT}</mark>",
    re.DOTALL,
)


def carded(one: Any) -> Iterator[list[Stretch]]:
    for answer in unescape(one._repr_html_()).split('<tr class="mx-answer">')[1:]:
        yield [stretch(c, (a, b, o), p, n, w) for c, a, b, o, n, p, w in CELLS.findall(answer)]


READ = ["channel", "start", "stop", "blend", "case", "low", "high", "direction"]


def tabled(one: Any) -> Iterator[list[Stretch]]:
    changes = one.to_changes()
    for _, lines in changes.groupby("cf.rank"):
        yield [
            Stretch(
                *(c, int(a), int(b) - 1, 100 * s, int(n)),
                low=-np.inf if np.isnan(low) else low,
                high=np.inf if np.isnan(high) else high,
                way=way or "",
            )
            for c, a, b, s, n, low, high, way in lines[READ].itertuples(index=False)
        ]


@pytest.mark.parametrize("parsed", [spoken, in_german, printed, in_json, carded, tabled])
def test_what_is_said_flips_the_model(found, parsed: Callable[[Any], Iterator[list[Stretch]]]):
    for at, one in found:
        answers = list(parsed(one))
        assert len(answers) == len(one.counterfactuals)
        for said in answers:
            assert said, one
            assert flips(at, said, one), (said, one)


@pytest.mark.parametrize(
    ("language", "foreign"),
    [("en", r"\b(rows?|columns?)\b"), ("de", r"\b(Zeilen?|Spalten?|Trainingszeilen?)\b")],
)
def test_cases_and_channels_are_never_called_rows_and_columns(tmp_path, language, foreign):
    asked = explainer()
    several = [
        asked.explain(made_cases(3, seed=2), n=2),
        asked.explain(made_cases(2, seed=2), max_rows=8),
        asked.explain(made_cases(1, seed=2), constraints={"only": ["sensor 0"]}, diagnose=True),
    ]
    for found in several:
        page = found.to_html(tmp_path / "page.html", language=language).read_text("utf-8")
        said = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
        said = re.sub(r"<[^>]+>", " ", said)
        assert not re.findall(rf".*{foreign}.*", said, flags=re.IGNORECASE)
        if language == "en":
            text = f"{found}\n{found.summary()}\n{found[0]}"
            assert not re.findall(rf".*{foreign}.*", text, flags=re.IGNORECASE)
