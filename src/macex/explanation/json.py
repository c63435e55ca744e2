"""Results as JSON, in the versioned form that `schema.json` beside this file describes.

The canonical form holds the answer alone: what a run costs, who asked and what the rows and
columns are called stays out, so that equal answers are equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from importlib.resources import files
from math import isfinite
from typing import Any

import numpy as np

from macex.ask.goals import AnyOf, Band, Goal, RiseBy
from macex.explanation.values import Action, Change, Counterfactual, Explanation
from macex.render.names import Names, called, codes_named

BATCH_FORMAT = "macex.explanations/1"
SINGLE_FORMAT = "macex.explanation/1"
Document = dict[str, Any]


def explanation_document(explanation: Explanation, *, canonical: bool = False) -> Document:
    """One explanation as a document of its own."""
    return {"format": SINGLE_FORMAT, **_explanation(explanation, canonical=canonical)}


def explanations_document(
    items: Sequence[Explanation],
    names: Names,
    meta: Mapping[str, Any],
    *,
    canonical: bool = False,
) -> Document:
    """A batch of explanations in the order of the rows."""
    around = (
        {}
        if canonical
        else {"meta": plain(meta), "names": {column: called(column, names) for column in names}}
    )
    explanations = [_explanation(item, canonical=canonical) for item in items]
    return {"format": BATCH_FORMAT, **around, "explanations": explanations}


def dumps(document: Document, *, canonical: bool = False) -> str:
    r"""A document as text; the canonical one has sorted keys, no spaces and ASCII only.

    >>> dumps({"b": 1, "a": "é"}, canonical=True)
    '{"a":"\\u00e9","b":1}'
    """
    if canonical:
        return json.dumps(document, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return json.dumps(document, allow_nan=False, ensure_ascii=False)


def schema() -> Document:
    """The JSON Schema of these documents.

    >>> schema()["title"]
    'Explanations by macex'
    """
    text = files("macex.explanation").joinpath("schema.json").read_text(encoding="utf-8")
    document: Document = json.loads(text)
    return document


def plain(value: Any) -> Any:
    """A value as JSON knows it: dates as ISO text, NaN as null, anything else as text.

    >>> plain({"when": date(2024, 2, 1), "gain": float("nan"), 3: np.int64(7)})
    {'when': '2024-02-01', 'gain': None, '3': 7}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None if value != value else str(value)  # noqa: PLR0124
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return str(value)


def measured(value: float | None) -> float | None:
    """A computed number to nine significant digits; null where it is not finite.

    >>> measured(0.1 + 0.2), measured(float("inf"))
    (0.3, None)
    """
    return None if value is None or not isfinite(value) else float(f"{value:.9g}")


def _explanation(explanation: Explanation, *, canonical: bool) -> Document:
    e = explanation
    query = plain(e.source.cells())
    document = {
        "query": query,
        "label": plain(e.label),
        "score": measured(e.score),
        "goal": goal_document(e.goal),
        "status": e.status,
        "reason": e.reason,
        "miss": None if e.miss is None else _counterfactual(e.miss, query, canonical=canonical),
        "counterfactuals": [
            {"rank": rank, **_counterfactual(found, query, canonical=canonical)}
            for rank, found in enumerate(e.counterfactuals, 1)
        ],
        "actions": [_action(action) for action in e.actions],
        "reasons": [_action(action) for action in e.reasons],
        "minimal": bool(e.minimal),
        "minimal_over": e.minimal_over,
        "method": e.method,
        "diagnosis": list(e.diagnosis),
    }
    if e.notes:
        document["notes"] = list(e.notes)
    if not canonical:
        document["id"] = plain(e.source.id)
        document["cost"] = plain(e.cost._asdict())
        if codes_named(e.names):
            document["reason_codes"] = [
                {"code": c.code, "text": c.text, "column": c.column} for c in e.reason_codes()
            ]
    return document


def _counterfactual(found: Counterfactual, query: Document, *, canonical: bool) -> Document:
    asked: Document = {}
    if found.robustness is not None:
        asked["robustness"] = measured(found.robustness)
    if found.reach is not None:
        asked["reach"] = measured(found.reach)
    if found.consequences:
        asked["consequences"] = [_consequence(change, found) for change in found.consequences]
    if found.breaks:
        asked["breaks"] = list(found.breaks)
    if found.copies and not canonical:
        asked["copies"] = True
    if found.why is not None and not canonical:  # it follows from what else is written
        asked["why"] = found.why
    return {
        "row": query | plain(found.source.written()),
        "changes": [_change(change) for change in found.changes],
        "label": plain(found.label),
        "score": measured(found.score),
        "sparsity": int(found.sparsity),
        "proximity": measured(found.proximity),
        "distance": measured(found.distance),
        "plausibility": measured(found.plausibility),
        "support": int(found.support),
        "minimal": bool(found.minimal),
        **asked,
    }


def _consequence(change: Change, found: Counterfactual) -> Document:
    before, after = plain(change.before), plain(change.after)
    estimated = {"estimated": True} if change.column in found.estimated else {}
    average = {"average": True} if estimated and found.average else {}
    return {"column": change.column, "before": before, "after": after, **estimated, **average}


def _change(change: Change) -> Document:
    interval = None if change.interval is None else plain(change.interval._asdict())
    before, after = plain(change.before), plain(change.after)
    return {"column": change.column, "before": before, "after": after, "interval": interval}


def _action(action: Action) -> Document:
    return {
        "column": action.column,
        "value": plain(action.value),
        "weight": measured(action.weight),
        "flips": bool(action.flips),
    }


def goal_document(goal: Goal) -> Document:
    """A goal in words and in numbers."""
    document: Document = {"text": goal.text}
    if isinstance(goal, AnyOf):
        labels = None if goal.labels is None else plain(goal.labels)
        return document | {"kind": "any_of", "labels": labels}
    document["label"] = plain(goal.label)
    if isinstance(goal, Band):
        bounds = {"low": measured(goal.low), "high": measured(goal.high)}
        openness = {"open_low": goal.open_low, "open_high": goal.open_high}
        return document | {"kind": "band"} | bounds | openness
    if isinstance(goal, RiseBy):
        return document | {"kind": "rise_by", "by": measured(goal.by)}
    return document | {"kind": "above_row"}
