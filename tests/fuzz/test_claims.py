"""Thousands of random questions, and no false claim in any answer.

`MACEX_FUZZ_QUERIES` sets how many questions the long run asks, `MACEX_FUZZ_SEED` where it starts.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter

import pytest

from fuzz.generator import Case, case_of
from fuzz.referee import Fault, Referee

SOME, MANY = 1_000, int(os.environ.get("MACEX_FUZZ_QUERIES", "20000"))
START = int(os.environ.get("MACEX_FUZZ_SEED", "1000"))
FLOORS = {  # what must have been checked, per 1,000 questions
    "answers": 500,
    "minimal": 250,
    "minimal of two or more": 40,
    "none": 100,
    "intervals": 200,
    "exact intervals": 100,
    "repeated": 100,
    "exported": 100,
    "flips": 200,
    "boxes": 40,
    "exact boxes": 20,
}


def checked(case: Case, tally: Counter[str]) -> list[str]:
    """What is wrong with the answers to the questions of a case, each fault with its seed."""
    referee, explainer, faults = Referee(case, tally), case.explainer(), []
    for turn, call in enumerate(case.calls()):
        found = explainer.explain(call.rows, **call.asked)
        wrong = referee.check(call, found)
        if turn == 0:
            wrong += referee.repeated(call, explainer, found) + referee.exported(found)
        faults += [shown(case, turn, fault) for fault in wrong]
    return faults


def shown(case: Case, turn: int, fault: Fault) -> str:
    """A fault and how to see it again."""
    call = list(case.calls())[turn]
    return (
        f"\nseed {case.seed}, call {turn}, row {fault.place}: {fault.law}\n"
        f"  {fault.detail}\n"
        f"  {case.subject.name}, {case.options}, goal {call.aims[fault.place].want!r}, "
        f"{call.wishes[fault.place]}, {call.options}\n"
        f"  case = case_of({case.seed}); call = list(case.calls())[{turn}]\n"
        f"  rows, asked = call.part([{fault.place}]); case.explainer().explain(rows, **asked)"
    )


def run(start: int, queries: int) -> Counter[str]:
    """Ask that many questions; a false claim, or an error, fails with its seed."""
    tally: Counter[str] = Counter()
    seed = start
    while tally["queries"] < queries:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                faults = checked(case_of(seed), tally)
            except Exception as error:
                raise AssertionError(f"seed {seed}: case_of({seed}) raises {error!r}") from error
        assert not faults, "".join(faults[:5])
        seed += 1
    return tally


def floors_kept(tally: Counter[str]) -> bool:
    """Whether enough of every kind of claim was checked to mean anything."""
    share = tally["queries"] / 1_000
    few = {name: tally[name] for name, floor in FLOORS.items() if tally[name] < floor * share}
    assert few == {}
    return True


def test_a_thousand_random_questions_have_no_false_claim(record_property):
    tally = run(0, SOME)
    record_property("checked", ", ".join(f"{count:,} {name}" for name, count in tally.items()))
    assert floors_kept(tally)


@pytest.mark.slow
def test_many_random_questions_have_no_false_claim(record_property):
    tally = run(START, MANY)
    record_property("checked", ", ".join(f"{count:,} {name}" for name, count in tally.items()))
    assert floors_kept(tally)
