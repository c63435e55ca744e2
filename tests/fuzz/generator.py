"""Random set-ups, each made from a seed: a table, a model, an explainer's options, some calls."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from fuzz.aims import Aim, random_aim
from fuzz.learned import random_subject
from fuzz.rules import random_structure, with_derived
from fuzz.subjects import Subject, score_of_two
from fuzz.tables import Table, random_table
from fuzz.wishes import Wish, random_wish


@dataclass(frozen=True)
class Call:
    """Some rows, and the question asked of each."""

    rows: pd.DataFrame
    aims: tuple[Aim, ...]
    wishes: tuple[Wish, ...]  # those of the explainer included
    options: dict[str, Any]  # of `explain`
    asked: dict[str, Any]  # all that `explain` takes but the rows
    each: tuple[str, ...]  # what is asked of each row by itself

    def part(self, places: list[int]) -> tuple[pd.DataFrame, dict[str, Any]]:
        """The same question of some of the rows."""
        asked = {
            name: [value[at] for at in places] if name in self.each else value
            for name, value in self.asked.items()
        }
        return self.rows.iloc[places], asked


@dataclass(frozen=True)
class Case:
    """A set-up: `Case.explainer()` and the calls put to it."""

    seed: int
    table: Table
    subject: Subject
    options: dict[str, Any]  # of `Explainer`
    wish: Wish

    def explainer(self) -> mx.Explainer:
        """The explainer, made anew."""
        given = {"constraints": mx.Constraints(**self.wish.parts()), **self.options}
        if self.subject.told:
            given["classes"] = self.subject.classes
        return mx.Explainer(self.subject.model, self.table.data, schema=self.table.schema, **given)

    def calls(self) -> Iterator[Call]:
        """The questions asked, four of the same explainer."""
        rng = np.random.default_rng([self.seed, 1])
        seen = self.subject.outputs(self.table.data)
        for _ in range(4):
            yield random_call(rng, self, seen)


def case_of(seed: int) -> Case:
    """The set-up that belongs to a seed."""
    rng = np.random.default_rng([seed, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = random_table(rng)
        if rng.random() < 0.2:
            table = with_derived(rng, table)
        subject = random_subject(rng, table)
    options = random_options(rng, subject)
    wish = random_wish(rng, table, 1) if rng.random() < 0.2 else Wish()
    other = np.random.default_rng([seed, 2])
    relations, kept = random_structure(other, table) if other.random() < 0.25 else ([], ())
    options["structure"] = relations or "ignore"
    return Case(seed, table, subject, options, replace(wish, kept=kept))


def random_options(rng: np.random.Generator, subject: Subject) -> dict[str, Any]:
    """Options of the explainer, the defaults most of the time."""
    options: dict[str, Any] = {}
    turn = rng.random()
    if subject.trees and turn < 0.6:
        options["candidates"] = "thresholds"
    elif turn < 0.5:
        options["candidates"] = str(rng.choice(["domain", "domain", "neighbors"]))
    if rng.random() < 0.12 and options.get("candidates") != "thresholds":
        options["method"] = str(rng.choice(["reinforce", "gradientless"]))
    if rng.random() < 0.3:
        options["prefer"] = str(rng.choice(["nearest", "surest"]))
    if rng.random() < 0.2:
        options["finetune"] = (None, "gradientless")[rng.integers(2)]
    if rng.random() < 0.1:
        options["selection"] = "printed"
    if rng.random() < 0.2:
        options["distance"] = str(rng.choice(["mad", "percentile"]))
    if rng.random() < 0.1:
        options["fallback"] = False
    if rng.random() < 0.1:
        options["random_state"] = int(rng.integers(100))
    return options


def random_call(rng: np.random.Generator, case: Case, seen: np.ndarray) -> Call:
    """A call for all rows, with one question for all of them or one for each."""
    count = len(case.table.rows)
    each_aim, each_wish = rng.random() < 0.2, rng.random() < 0.2
    aims = [random_aim(rng, case.subject, case.table.data, seen) for _ in range(count)]
    aims = aims if each_aim else aims[:1] * count
    parts = rng.choice([0, 1, 2, 3, 4], count, p=[0.2, 0.3, 0.25, 0.15, 0.1])
    wishes = [random_wish(rng, case.table, int(number), case.wish) for number in parts]
    wishes = wishes if each_wish else wishes[:1] * count
    options = random_call_options(rng, case, aims)
    constraints = [mx.Constraints(**wish.parts()) for wish in wishes]
    asked = {
        "want": [aim.want for aim in aims] if each_aim else aims[0].want,
        "constraints": constraints if each_wish else constraints[0],
        **options,
    }
    merged = tuple(case.wish.merged(wish) for wish in wishes)
    each = ("want",) * each_aim + ("constraints",) * each_wish
    return Call(case.table.rows, tuple(aims), merged, options, asked, each)


def random_call_options(rng: np.random.Generator, case: Case, aims: list[Aim]) -> dict[str, Any]:
    """Options of a call; a second model is asked only where a function decides for a label."""
    options: dict[str, Any] = {}
    if rng.random() < 0.35:
        options["n"] = int(rng.integers(2, 5))
    if rng.random() < 0.15 and case.subject.agrees:
        options["margin"] = float(rng.choice([0.0, 0.2]))
    if rng.random() < 0.1:
        options["max_rows"] = int(rng.choice([5, 60, 400]))
    if rng.random() < 0.07:
        options["robust"] = float(rng.choice([0.0, 0.9]))
    if rng.random() < 0.07:
        options["diagnose"] = True
    if rng.random() < 0.2 and case.subject.name == "a function" and all(a.wanted for a in aims):
        options["also"] = [score_of_two(rng, case.table)]
    return options
