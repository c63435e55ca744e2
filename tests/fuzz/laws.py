"""Laws that an explanation keeps by itself: what it says of one thing agrees with the next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
from jsonschema import Draft202012Validator

import macex as mx
from fuzz.aims import Aim
from fuzz.wishes import Wish
from macex.explanation.json import schema

FORMAT = Draft202012Validator(schema())


def consistent(one: mx.Explanation, count: int) -> Iterator[str]:
    """Laws about the status, the reason, the miss and how much is claimed."""
    answers = one.counterfactuals
    laws = {
        "the status is one of four": one.status in ("found", "none", "not_found", "budget"),
        "found means that there is an answer": (one.status == "found") == bool(answers),
        "there is a reason where there is no answer": bool(one.reason) == (one.status != "found"),
        "there is no miss where there is an answer": one.miss is None or not answers,
        "there are at most n answers": len(answers) <= count,
        "a certificate names its values": one.status != "none" or one.minimal_over is not None,
        "minimal speaks of the first answer": one.minimal == bool(answers and answers[0].minimal),
        "a proof names its values": not one.minimal or one.minimal_over is not None,
        "answers differ": len({repr(answer.changes) for answer in answers}) == len(answers),
    }
    yield from (law for law, kept in laws.items() if not kept)


def ranked(one: mx.Explanation, prefer: str, *, upward: bool) -> Iterator[str]:
    """The first answer is the best of those shown."""
    answers = one.counterfactuals
    if not answers:
        return
    if prefer == "fewest" and answers[0].sparsity > min(a.sparsity for a in answers):
        yield "the first answer has the fewest changes"
    if prefer == "nearest" and answers[0].distance > min(a.distance for a in answers):
        yield "the first answer is the nearest"
    if prefer == "surest" and upward and answers[0].score < max(a.score for a in answers):
        yield "the first answer is the surest"


def compared(one: mx.Explanation, aim: Aim) -> Iterator[str]:
    """The reason for which an answer is there is true, and the front holds what nothing beats."""
    answers = one.counterfactuals
    low = {
        "fewest": lambda answer: answer.sparsity,
        "nearest": lambda answer: answer.distance,
        "plausible": lambda answer: -(answer.plausibility or 0),
        "surest": lambda answer: (
            -(aim.inside(answer.score) if answer.robustness is None else answer.robustness)
        ),
    }
    for answer in answers:
        cost = low.get(answer.why)
        if cost is not None and cost(answer) > min(map(cost, answers)):
            yield f"an answer that is there as the {answer.why} is"
    costs = {id(answer): [cost(answer) for cost in low.values()] for answer in answers}
    for answer in answers:
        mine = costs[id(answer)]
        beaten = any(
            other != mine and all(b <= a for a, b in zip(mine, other, strict=True))
            for other in costs.values()
        )
        if beaten == any(answer is kept for kept in one.front):
            yield "the front holds the answers that no other beats"


def listed(one: mx.Explanation, wish: Wish) -> Iterator[str]:
    """Laws about actions and reasons."""
    for actions in (one.actions, one.reasons):
        weights = [action.weight for action in actions]
        if len(weights) > 8 or any(not 0 <= weight <= 1 for weight in weights):
            yield "at most eight actions, with weights from 0 to 1"
        if weights != sorted(weights, reverse=True):
            yield "the strongest action comes first"
    closed = {*wish.fixed, *wish.protected, *wish.derived}
    if closed & {action.column for action in one.actions}:
        yield "what may not change is no action"


def tabled(found: mx.Explanations) -> Iterator[str]:
    """The frames hold what the explanations hold."""
    lines = found.to_frame()
    expected = [
        (one.status, answer.sparsity if answer else None)
        for one in found
        for answer in (one.counterfactuals or [None])
    ]
    told = [
        (status, None if rank == 0 else int(changed))
        for status, rank, changed in zip(
            lines["cf.status"], lines["cf.rank"], lines["cf.sparsity"].fillna(0), strict=True
        )
    ]
    if told != expected:
        yield "one line for each counterfactual"
    changes = sum(len(answer.changes) for one in found for answer in one.counterfactuals)
    if (~found.to_changes()["follows"]).sum() != changes:
        yield "one line for each change"


def written(found: mx.Explanations, *, canonical: bool) -> Iterator[str]:
    """The JSON keeps its published schema."""
    document = json.loads(found.to_json(canonical=canonical), parse_constant=refused)
    fault = next(FORMAT.iter_errors(document), None)
    if fault is not None:
        yield f"the JSON keeps its schema: {deepest(fault)}"


def refused(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def deepest(fault: Any) -> str:
    while fault.context:
        fault = max(fault.context, key=lambda inner: len(inner.absolute_path))
    return f"{list(fault.absolute_path)}: {fault.message}"[:300]


def same_cells(columns: tuple[str, ...], own: pd.DataFrame, row: pd.DataFrame) -> bool:
    """Whether two rows hold the same in some columns, bit for bit."""
    return all(same_cell(own[column].iloc[0], row[column].iloc[0]) for column in columns)


def same_cell(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one)) == bool(pd.isna(other))
    return bool(one == other) and repr(one) == repr(other)
