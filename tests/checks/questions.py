"""A fixed set of questions, by name, whose answers are guarded by their digests.

Every model is a scorecard: whole points divided by a power of two, so that its scores are the same
bits on every processor. Made tables are arithmetic, so that no random generator is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from macex.datasets import load

METHODS = ("exhaustive", "reinforce", "gradientless")
Question = tuple[str, Callable[[], Any]]  # its name, and how it is answered
LEVELS = list("ABCD")
START = pd.Timestamp("2020-01-01")


def share(points: Any, most: int) -> np.ndarray:
    """Points as two scores, with steps of a power of two."""
    yes = np.clip(np.asarray(points, dtype=int), 0, most) / most
    return np.stack([1 - yes, yes], axis=1)


def income(rows: pd.DataFrame) -> np.ndarray:
    """Who earns much, by the card."""
    points = 3 * (rows["marital_status"] == "Married").to_numpy(int)
    points += 2 * rows["education"].isin(["Bachelors", "Masters", "Doctorate"]).to_numpy(int)
    points += (rows["occupation"] == "White-Collar").to_numpy(int)
    points += (rows["hours_per_week"] >= 45).to_numpy(int) + (rows["hours_per_week"] >= 55)
    points += (rows["age"] >= 30).to_numpy(int) + 2 * (rows["age"] >= 42)
    return share(points, 16)


def growth(rows: pd.DataFrame) -> np.ndarray:
    """Which cells are malignant, by the card."""
    sizes = rows["uniformity_cell_size"].astype(int) + rows["bare_nuclei"].astype(int)
    points = sizes + (rows["clump_thickness"].astype(int) >= 7) * 3
    return share(points + (rows["mitoses"].astype(int) >= 3) * 2, 32)


@cache
def people() -> pd.DataFrame:
    """A made table with a column of every kind, and missing cells."""
    place = np.arange(240)
    income = ((place * 37) % 90 + 10) / 4
    income[place % 11 == 5] = np.nan
    return pd.DataFrame(
        {
            "age": 18 + (place * 29) % 50,
            "debt": (place * 53) % 61,
            "income": income,
            "job": np.array(["none", "part", "full"])[(place * 7) % 3],
            "grade": pd.Categorical(
                np.array(LEVELS)[(place * 13 // 3) % 4], categories=LEVELS, ordered=True
            ),
            "since": START + pd.to_timedelta((place * 101) % 900, unit="D"),
            "owner": (place * 17) % 5 < 2,
        }
    )


def merit(rows: pd.DataFrame) -> np.ndarray:
    """Whole points for a made person."""
    earned = rows["income"].fillna(8).to_numpy(float)
    points = np.floor(earned).astype(int) - rows["debt"].to_numpy(int) // 4
    points += 6 * (rows["job"] == "full").to_numpy(int) + 2 * (rows["job"] == "part")
    points += 2 * rows["grade"].map({level: 3 - at for at, level in enumerate(LEVELS)}).astype(int)
    points += 4 * rows["owner"].to_numpy(int) - (rows["since"] > pd.Timestamp("2021-06-01"))
    return points.to_numpy() + (rows["age"].to_numpy(int) - 40) // 8


def grant(rows: pd.DataFrame) -> np.ndarray:
    return share(merit(rows) + 8, 32)


def tiers(rows: pd.DataFrame) -> np.ndarray:
    """Three scores that add up to one."""
    points = np.clip(merit(rows) + 16, 0, 48)
    low, high = np.clip(32 - points, 0, 32), np.clip(points - 16, 0, 32)
    return np.stack([low, 64 - low - high, high], axis=1) / 64


def rate(rows: pd.DataFrame) -> np.ndarray:
    """A bare score."""
    return merit(rows) / 8


def cases() -> np.ndarray:
    """Series (36, 4, 24) of whole numbers; every third has a bump, every third is raised."""
    case, channel, time = np.ogrid[:36, :4, :24]
    made = (case * 31 + channel * 17 + time * 7) % 5
    made = made + 12 * ((case % 3 == 1) & (channel == 1) & (time >= 8) & (time < 14))
    return (made + 9 * ((case % 3 == 2) & (channel == 3))).astype(float)


def machine(given: np.ndarray) -> np.ndarray:
    """Points for calm, for a bump of channel 1 and for a raised channel 3."""
    given = np.nan_to_num(np.asarray(given, dtype=float))
    bump = np.clip(np.floor(given[:, 1, 8:14].sum(axis=1)), 0, 64)
    raised = np.clip(np.floor(given[:, 3].sum(axis=1) / 4), 0, 64)
    return np.stack([128 - np.maximum(bump, raised), bump, raised], axis=1) / 256


@cache
def explainer(world: str, options: tuple[tuple[str, Any], ...] = ()) -> mx.Explainer:
    """The explainer of a world with these options."""
    if world in ("adult", "breast"):
        model = {"adult": income, "breast": growth}[world]
        classes = load(world).labels
        return mx.Explainer(model, rows_of(world), classes=classes, **dict(options))
    model = {"people": grant, "tiers": tiers, "rate": rate}[world]
    classes = {"people": ("no", "yes"), "tiers": ("low", "mid", "high"), "rate": None}[world]
    return mx.Explainer(model, people(), classes=classes, **dict(options))


@cache
def rows_of(world: str) -> pd.DataFrame:
    """The training rows of a world."""
    return load(world).frame.head(400) if world in ("adult", "breast") else people()


def asked(world: str, options: dict[str, Any], call: dict[str, Any], at: tuple[int, ...]) -> Any:
    """The answers for some rows of a world."""
    return explainer(world, tuple(options.items())).explain(rows_of(world).iloc[list(at)], **call)


def question(
    world: str, options: dict[str, Any] | None = None, at: tuple[int, ...] = (0, 7, 12), **call: Any
) -> Question:
    """One question, named by what is asked."""
    parts = [f"{name}={value!r}" for name, value in {**(options or {}), **call}.items()]
    return " ".join([world, *parts]), lambda: asked(world, options or {}, call, at)


def questions() -> Iterator[Question]:
    """All questions."""
    yield from searches()
    yield from preferences()
    yield from constraints()
    yield from goals()
    yield from limits()
    yield from as_printed()
    yield from series()


def searches() -> Iterator[Question]:
    """Every search with all candidates, for one and three answers."""
    for world in ("adult", "breast", "people", "tiers"):
        for method in METHODS:
            for candidates in ("neighbors", "domain", "both"):
                for n in (1, 3):
                    yield question(world, {"method": method, "candidates": candidates}, n=n)
    for method in METHODS:
        yield question("people", {"method": method, "fallback": False}, n=2)
        yield question("people", {"method": method, "random_state": 5}, n=2)


def preferences() -> Iterator[Question]:
    """What is preferred, how far is measured, how answers are selected and refined."""
    for world in ("adult", "people"):
        for method in METHODS:
            for prefer in ("fewest", "nearest", "plausible", "surest"):
                yield question(world, {"method": method, "prefer": prefer}, n=2)
        for distance in ("median", "mad", "percentile"):
            yield question(world, {"distance": distance, "prefer": "nearest"}, n=2)
        for selection in ("diverse", "printed"):
            for finetune in ("section", "gradientless", None):
                yield question(world, {"selection": selection, "finetune": finetune}, n=3)


RULES: list[dict[str, Any]] = [
    {"fixed": ["age", "job"]},
    {"only": ["debt", "income"]},
    {"ranges": {"debt": [5, 20], "income": [None, 20]}},
    {"ranges": {"debt": [0, 10]}, "strict": True},
    {"increase": ["age", "income"], "decrease": ["debt"]},
    {"allowed": {"job": ["part", "none"]}},
    {"allowed": {"job": {"none": ["part"], "part": ["full"]}}},
    {"groups": [["job", "grade"]]},
    {"rules": ["debt <= income * 2"]},
    {"rules": ["if job != old(job) then age >= old(age) + 2"]},
    {"derived": {"debt": "floor(income) + 3"}},
    {"weights": {"age": 4, "debt": 0.25}},
    {"max_changes": 1},
    {"max_changes": 2, "protected": ["age", "owner"]},
    {"may_blank": ["income"]},
    {"fixed": ["age", "income", "debt", "job", "grade", "owner"]},
]


def constraints() -> Iterator[Question]:
    """Every kind of constraint, by every search."""
    for rules in RULES:
        for method in METHODS:
            yield question("people", {"method": method}, constraints=rules, n=2)
        yield question("people", {}, constraints=rules, diagnose=True)
    per_row = [RULES[0], None, RULES[12]]
    yield question("people", {}, constraints=per_row, n=2)


def goals() -> Iterator[Question]:
    """Every kind of goal."""
    wants = {
        "adult": [">50K", "<=50K"],
        "tiers": ["low", "mid", "high", mx.any_of("low", "high"), mx.at_least(0.5, label="high")],
        "people": [mx.between(0.25, 0.5, label="yes"), mx.at_most(0.25, label="yes")],
        "rate": [
            mx.at_least(2.0),
            mx.at_most(0.5),
            mx.between(1.0, 1.5),
            mx.above(1.0),
            mx.below(1.0),
            mx.rise_by(0.75),
            mx.rise_by(-0.5),
            mx.above_row(people().iloc[[3]]),
        ],
    }
    for world, each in wants.items():
        for want in each:
            for method in METHODS:
                name, answer = question(world, {"method": method}, n=2, want=want)
                if want is wants["rate"][-1]:
                    name = f"rate method={method!r} n=2 want=above_row(3)"
                yield name, answer


def limits() -> Iterator[Question]:
    """Limits, margins, robustness, and rows that are one another's company."""
    for world in ("adult", "people"):
        for most in (1, 20, 200):
            yield question(world, {}, max_rows=most, n=2)
        yield question(world, {}, margin=0.125)
        yield question(world, {}, robust=0.9)
        yield question(world, {}, at=tuple(range(0, 60, 3)), n=2)
    yield question("people", {"sample": 100})


def as_printed() -> Iterator[Question]:
    """What the paper's tables rest on: nothing but few changes and short distances."""
    plain = {"prefer": "fewest", "structure": "ignore", "plausibility": "distance"}
    for world in ("adult", "breast", "people", "tiers"):
        for n in (1, 3):
            yield question(world, plain, n=n)
        for method in ("reinforce", "gradientless"):
            yield question(world, {"method": method, "selection": "printed", **plain}, n=3)


def series() -> Iterator[Question]:
    """The same searches over channels."""
    classes, channels = ["calm", "bump", "raised"], ["a", "b", "c", "d"]
    wished: list[dict[str, Any]] = [{}, {"fixed": ["b"]}, {"only": ["b", "d"]}, {"max_changes": 1}]

    def answered(method: str, finetune: str | None, call: dict[str, Any]) -> Any:
        made = mx.SeriesExplainer(
            machine, cases(), channels=channels, classes=classes, method=method, finetune=finetune
        )
        return made.explain(cases()[:3], **call)

    for method in METHODS:
        for finetune in ("segments", None):
            for rules in wished:
                for n in (1, 3):
                    call = {"n": n, "constraints": mx.SeriesConstraints(**rules)}
                    name = f"series method={method!r} finetune={finetune!r} {rules!r} n={n}"
                    yield name, lambda m=method, f=finetune, c=call: answered(m, f, c)
        for want in classes:
            yield (
                f"series method={method!r} want={want!r}",
                lambda m=method, w=want: answered(m, "segments", {"want": w}),
            )
