"""What an audit keeps of each explanation of a case, so that it can be made again."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from macex.engine.recorder import Recorder
from macex.explanation.json import plain
from macex.series.engine import SeriesEngine
from macex.series.json import explanation_document
from macex.series.options import written_options

FORMAT = "macex.series_audit/1"


class SeriesRecorder(Recorder):
    """Appends one line per explanation of a case to an audit file."""

    format: ClassVar[str] = FORMAT

    def shared(self, engine: SeriesEngine) -> dict[str, Any]:  # type: ignore[override]
        """What all explanations of an engine share."""
        return {
            "fingerprint": fingerprint(engine),
            "channels": list(engine.fitted.names),
            "layout": engine.fitted.train.layout,
            "times": asdict(engine.fitted.times),
            "classes": plain(engine.outlook.classes),
            "options": plain(written_options(engine.options)),
        }

    def asked(self, item: Any) -> Any:
        """The case that was asked about: its values, channels first, and their dtype."""
        sample = np.asarray(item.source.sample)
        return {"dtype": str(sample.dtype), "values": [plain(one.tolist()) for one in sample]}

    def answer(self, item: Any) -> dict[str, Any]:
        """The answer, as JSON."""
        return explanation_document(item, canonical=True)


def fingerprint(engine: SeriesEngine) -> str:
    """The SHA-256 of options, training cases and the model's answers for them."""
    fitted = engine.fitted
    document = {
        "channels": list(fitted.names),
        "layout": fitted.train.layout,
        "options": written_options(fitted.options),
        "outlook": asdict(fitted.outlook),
    }
    made = sha256(json.dumps(document, sort_keys=True, default=str).encode())
    for case in fitted.train.values:
        made.update(np.ascontiguousarray(case).tobytes())
    made.update(np.round(fitted.answers.scores, 6).tobytes())
    return made.hexdigest()


def case_read(stored: dict[str, Any], layout: str) -> Any:
    """A recorded case in its layout; a gap was written as null, an infinity as text."""
    values = [[np.nan if v is None else float(v) for v in one] for one in stored["values"]]
    case = np.array(values).astype(stored["dtype"])
    return case if layout == "channels_first" else case.T
