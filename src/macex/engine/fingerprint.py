"""Whether two explainers would answer alike: a hash of all that answers rest on."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.engine.options import written_options
from macex.engine.robustness import ASKED, requirements_of

if TYPE_CHECKING:
    from macex.engine.engine import Engine
    from macex.engine.fitted import Fitted


def fingerprint(engine: Engine) -> str:
    """The SHA-256 of schema, options, training rows and the model's answers for them.

    Constraints are not in it. The model itself is known by its answers, so that a live object has
    a fingerprint, too.
    """
    fitted = engine.fitted
    document = {
        "schema": engine.schema.to_dict(),
        "options": written_options(fitted.options),
        "outlook": asdict(fitted.outlook),
        **relations_stated(fitted),
    }
    made = sha256(json.dumps(document, sort_keys=True, default=_called).encode())
    made.update(np.ascontiguousarray(fitted.ground.codes).tobytes())
    made.update(np.round(fitted.answers.scores, 6).tobytes())
    return made.hexdigest()


def relations_stated(fitted: Fitted) -> dict[str, Any]:
    """The relations that the caller gave, which no training row tells."""
    return {"relations": fitted.relations.to_list()} if fitted.stated else {}


def others_marked(engine: Engine, also: Any) -> list[str]:
    """What tells the models of `also=` apart: a SHA-256 of the answers of each."""
    fitted = engine.fitted
    frame = fitted.ground.schema.frame(codes := fitted.ground.codes[:ASKED])
    others = requirements_of(fitted, None, also).others
    scores = [np.round(other(frame, len(codes)).scores, 6) for other in others]
    return [sha256(answers.tobytes()).hexdigest() for answers in scores]


def _called(value: Any) -> str:
    return str(getattr(value, "__qualname__", value))
