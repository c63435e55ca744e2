"""Writing an explainer to a file and reading it again, without pickle.

The file is a zip of plain arrays (`.npy`, never objects) and one JSON document. The model is not in
it: `load` takes it, so that no code comes out of a file.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers
from macex.ask.constraints import Constraints
from macex.ask.units import Ground
from macex.audit import Audit
from macex.engine import storage
from macex.engine.engine import Engine
from macex.engine.fitted import Fitted
from macex.engine.options import options_read, written_options
from macex.engine.recorder import Recorder
from macex.engine.training import distributions_of, grid_of
from macex.errors import ConstraintError, OptionError, SavedError
from macex.models.asker import CHUNK_ROWS
from macex.schema import Array, Schema
from macex.schema.distributions import restored
from macex.stages.approximate import arrays_of
from macex.stages.plausibility import measure
from macex.structure import Structure

if TYPE_CHECKING:
    from macex.explainer.explainer import Explainer

FORMAT = "macex.explainer/2"
ARRAYS = ("codes", "scores", "decision")
NEIGHBORS = "neighbors."  # what the arrays of an approximate index are called first
REALNESS = "realness."  # and those that say how real a row looks
SPREAD = "distributions."  # and those that count values by decision
COUNTS = ("counts", "ends", "rows")
TRAINING = (f"{REALNESS}training.real", f"{REALNESS}training.decision")


def save(engine: Engine, path: Any, *, private: bool = False) -> None:
    """Write an explainer, all but its model; nothing half-written is left under `path`.

    With `private` the rows are taken apart: see `scattered`.
    """
    fitted = engine.fitted
    if callable(fitted.options.distance):
        raise OptionError("an explainer with a distance function of its own cannot be saved")
    if getattr(fitted.options.candidates, "trees", None) is not None:
        raise OptionError("an explainer with Thresholds(trees=...) cannot be saved: trees are code")
    causal = fitted.causal
    if private and causal is not None and causal.fitted:
        raise ConstraintError(
            f"causes that are fitted to training rows ({', '.join(causal.fitted)}) cannot be kept "
            "in a private file: state their mechanisms as expressions"
        )
    document = {
        "format": FORMAT,
        "schema": engine.schema.to_dict(),
        "constraints": engine.constraints.to_dict(),
        "options": written_options(fitted.options),
        "outlook": asdict(fitted.outlook),
        "private": private or fitted.ground.private,
        "structure": _structure(fitted, private=private).to_list(),
        **({"stated": True} if fitted.stated else {}),
    }
    codes, answers = scattered(engine) if private else (fitted.ground.codes, fitted.answers)
    arrays = dict(zip(ARRAYS, (codes, answers.scores, answers.decision), strict=True))
    if fitted.approximate is not None and not private:
        made = arrays_of(fitted.approximate)
        arrays |= {f"{NEIGHBORS}{part}": array for part, array in made.items()}
    if private or "training" in fitted.learnt:
        learnt = measure.arrays_of(fitted.realness)
        arrays |= {f"{REALNESS}{part}": array for part, array in learnt.items()}
        arrays |= dict(zip(TRAINING, fitted.training_realness, strict=True))
    known = distributions_of(fitted) if private else None
    if known is not None:
        arrays |= {f"{SPREAD}{part}": getattr(known, part) for part in COUNTS}
    storage.write(path, document, arrays)


def _structure(fitted: Fitted, *, private: bool) -> Structure:
    found = fitted.relations
    return found.private(fitted.ground.schema) if private else found


def scattered(engine: Engine) -> tuple[Array, Answers]:
    """The training values of every column in an order of its own, and the model's answers for that.

    The frequency of each value is kept; which values occur together is not: every column is sorted,
    which removes the link to its rows, and then shuffled.
    """
    fitted = engine.fitted
    if engine.constraints.groups:
        raise OptionError(
            "private=True stores no rows, and the constraints have groups, which move to "
            "combinations of whole rows: save an explainer without groups"
        )
    draw = np.random.default_rng(fitted.options.random_state)
    codes = np.sort(fitted.ground.codes, axis=0)
    for place in range(codes.shape[1]):
        codes[:, place] = draw.permutation(codes[:, place])
    parts = []
    for start in range(0, len(codes), CHUNK_ROWS):
        part = codes[start : start + CHUNK_ROWS]
        parts.append(fitted.oracle(fitted.ground.schema.frame(part), len(part)))
    scores = np.concatenate([part.scores for part in parts])
    return codes, Answers(scores, np.concatenate([part.decision for part in parts]))


def load(path: Any, model: Any, *, audit: Audit | str | Path | None = None) -> Explainer:
    """The explainer saved at `path`, for `model`, which must be the model it was made with.

    The model is asked about a sample of the training rows; answers that differ from the saved ones
    are an error, since every neighbour and every proof rests on them. `audit` is a file to which
    every explanation is recorded.
    """
    from macex.explainer.explainer import Explainer

    document, arrays = storage.read(path, FORMAT, ARRAYS, (NEIGHBORS, REALNESS, SPREAD))
    try:
        schema = Schema.from_dict(document["schema"])
        options = options_read(document["options"])
        constraints = Constraints.from_dict(document["constraints"])
        outlook = storage.outlook_read(document["outlook"])
        structure = Structure.from_list(document.get("structure", []))
        _check_shapes(arrays, len(schema.columns), outlook.width)
    except Exception as error:
        raise SavedError(f"{path} is not a whole explainer: {error!r}") from error
    ground = Ground(schema, arrays["codes"], bool(document.get("private", False)))
    sample = np.unique(np.linspace(0, len(ground.codes) - 1, 1000).astype(int))
    answers = Answers(arrays["scores"], arrays["decision"])
    frame = schema.frame(ground.codes[sample])
    now = storage.asked_again(model, frame, len(sample), outlook, path)
    storage.agree(now[1], answers.take(sample), path)
    oracle = replace(now[0], outlook=replace(outlook, by_predict=now[0].outlook.by_predict))
    grid = grid_of(model, oracle, ground, answers, options)
    try:
        kept = _named(arrays, NEIGHBORS)
        stated = bool(document.get("stated", False))
        fitted = Fitted(oracle, ground, answers, options, grid, kept, structure, stated)
        fitted.learnt |= _learnt(arrays)
        counted = _named(arrays, SPREAD)
        if counted:
            fitted.learnt["distributions"] = restored(schema, *(counted[p] for p in COUNTS))
        if "realness" in fitted.learnt:
            fitted.realness(ground.codes[:1])  # arrays that do not fit together are found now
        engine = Engine(fitted, constraints)
        engine.check(constraints)  # causes that do not fit the rows are found now
    except (KeyError, IndexError, ValueError, TypeError, RuntimeError) as error:
        raise SavedError(f"{path} is not a whole explainer: {error}") from error
    if audit is not None and not isinstance(audit, Audit):
        audit = Audit(audit, explainer=path)
    return Explainer.of(engine, None if audit is None else Recorder(audit, engine))


def _named(arrays: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, without it."""
    found = {part: array for part, array in arrays.items() if part.startswith(prefix)}
    return {part.removeprefix(prefix): array for part, array in found.items()}


def _learnt(arrays: dict[str, Any]) -> dict[str, Any]:
    """How real a row looks, where the training rows that say it are not in the file."""
    stored = _named(arrays, REALNESS)
    if not stored:
        return {}
    return {
        "realness": measure.realness_of(stored),
        "training": tuple(arrays[part] for part in TRAINING),
    }


def _check_shapes(arrays: dict[str, Any], columns: int, width: int) -> None:
    rows = len(arrays["codes"])
    expected = {"codes": (rows, columns), "scores": (rows, width), "decision": (rows,)}
    for part, shape in expected.items():
        if arrays[part].shape != shape or not rows:
            raise SavedError(f"{part} has the shape {arrays[part].shape}, not {shape}")
