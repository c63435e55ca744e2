"""Explanations of series as JSON, in the form that `schema.json` beside this file describes.

Only changed stretches are written out, before and after; a whole sample may hold a million numbers.
The canonical form holds the answer alone, so that equal answers are equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from macex.explanation.json import Document, dumps, goal_document, measured, plain
from macex.schema import Array
from macex.series.values import (
    SeriesAction,
    SeriesChange,
    SeriesCounterfactual,
    SeriesExplanation,
)

__all__ = ["dumps", "explanation_document", "explanations_document", "schema"]

SINGLE_FORMAT = "macex.series_explanation/1"
BATCH_FORMAT = "macex.series_explanations/1"


def explanation_document(explanation: SeriesExplanation, *, canonical: bool = False) -> Document:
    """One explanation as a document of its own."""
    return {"format": SINGLE_FORMAT, **_explanation(explanation, canonical=canonical)}


def explanations_document(
    items: Sequence[SeriesExplanation], meta: Mapping[str, Any], *, canonical: bool = False
) -> Document:
    """A batch of explanations in the order of the cases."""
    around = {} if canonical else {"meta": plain(meta)}
    explanations = [_explanation(item, canonical=canonical) for item in items]
    return {"format": BATCH_FORMAT, **around, "explanations": explanations}


def schema() -> Document:
    """The JSON Schema of these documents.

    >>> schema()["title"]
    'Explanations of time series by macex'
    """
    text = files("macex.series").joinpath("schema.json").read_text(encoding="utf-8")
    document: Document = json.loads(text)
    return document


def _explanation(e: SeriesExplanation, *, canonical: bool) -> Document:
    document: Document = {
        "label": plain(e.label),
        "score": measured(e.score),
        "goal": goal_document(e.goal),
        "status": e.status,
        "reason": e.reason,
        "miss": None if e.miss is None else _counterfactual(e.miss),
        "counterfactuals": [
            {"rank": rank, **_counterfactual(found)}
            for rank, found in enumerate(e.counterfactuals, 1)
        ],
        "actions": [_action(action) for action in e.actions],
        "minimal": bool(e.minimal),
        "minimal_over": e.minimal_over,
        "method": e.method,
        "diagnosis": list(e.diagnosis),
    }
    if e.fewer is not None:
        document["fewer"] = e.fewer
    document |= _probabilities(e)
    if not canonical:
        document["cost"] = plain(e.cost._asdict())
    return document


def _counterfactual(found: SeriesCounterfactual) -> Document:
    robust = {} if found.robustness is None else {"robustness": measured(found.robustness)}
    if found.label_score is not None:
        robust["label_score"] = measured(found.label_score)
    return {
        "changes": [_change(change) for change in found.changes],
        "label": plain(found.label),
        "score": measured(found.score),
        "sparsity": int(found.sparsity),
        "distance": measured(found.distance),
        "plausibility": measured(found.plausibility),
        "minimal": bool(found.minimal),
        **robust,
        **_probabilities(found),
    }


def _probabilities(of: SeriesExplanation | SeriesCounterfactual) -> Document:
    known = {str(label): measured(share) for label, share in of.probabilities.items()}
    return {"probabilities": known} if known else {}


def _change(change: SeriesChange) -> Document:
    more: Document = {} if change.times is None else {"times": list(change.times)}
    if change.limit is not None:
        said = change.limit._asdict().items()
        more["limit"] = {name: value for name, value in said if value is not None}
    return {
        **more,
        "channel": change.channel,
        "start": int(change.start),
        "stop": int(change.stop),
        "blend": measured(change.blend),
        "case": int(change.case),
        "label": plain(change.label),
        "before": _numbers(change.before),
        "after": _numbers(change.after),
    }


def _action(action: SeriesAction) -> Document:
    return {
        "channel": action.channel,
        "case": int(action.case),
        "weight": measured(action.weight),
        "flips": bool(action.flips),
    }


def _numbers(values: Array) -> list[Any]:
    return [plain(value) for value in np.asarray(values).tolist()]
