"""What is asked of a row: which decision or score, how many answers, by which search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from anyio import from_thread
from fastapi import Request

from macex.ask.constraints import Constraints
from macex.ask.goals import Goal, at_least, at_most, between
from macex.errors import GoalError, OptionError
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.series.explainer import SeriesExplainer
from macex.server.logs import gist, note
from macex.server.pages.address import Address
from macex.server.problems import ProblemError
from macex.server.projects.project import METHODS, PREFERENCES, WAIT_S, Project
from macex.server.questions import bounded_rows
from macex.server.settings import Settings
from macex.server.storage.audit import asked_by
from macex.stages.search.protocol import EXHAUSTIVE, GRADIENTLESS, REINFORCE

ANSWERS = 3
MOST_ANSWERS = 10
SAID = {
    EXHAUSTIVE: "fewest changes first, all combinations",
    REINFORCE: "policy gradient (MACE-RL)",
    GRADIENTLESS: "gradient-less descent (MACE-GLD)",
    "balanced": "the fewest changes, plausible and stable",
    "fewest": "the fewest changes, then the nearest",
    "nearest": "the nearest row",
    "plausible": "as many changes as make it plausible",
    "surest": "the surest answer",
}
LOOK_S = 0.2  # how often somebody who waits for a turn is looked after
Gone = Callable[[], bool]


@dataclass(frozen=True)
class PageQuestion:
    """A question about one row or many."""

    want: Any
    n: int
    method: str
    prefer: str


def question(address: Address, classes: Sequence[object] | None) -> PageQuestion:
    """The question of an address to a model of these classes."""
    return PageQuestion(
        want=wanted(address, classes),
        n=_count(address.one("n", str(ANSWERS))),
        method=_chosen("method", address.one("method", METHODS[0]), METHODS),
        prefer=_chosen("prefer", address.one("prefer", PREFERENCES[0]), PREFERENCES),
    )


def asked_of(address: Address, explainer: Explainer | SeriesExplainer) -> dict[str, Any]:
    """What the fields of a question show."""
    classes = explainer.classes
    return {
        "classes": None if classes is None else [str(label) for label in classes],
        "methods": METHODS,
        "preferences": _preferences(explainer),
        "said": SAID,
        "answers_asked": address.one("n", str(ANSWERS)),
        "most_answers": MOST_ANSWERS,
    }


def _preferences(explainer: Explainer | SeriesExplainer) -> tuple[str, ...]:
    """What may be preferred: samples of series are not ranked by plausibility."""
    of_rows = isinstance(explainer, Explainer)
    return PREFERENCES if of_rows else tuple(one for one in PREFERENCES if one != "plausible")


def wanted(address: Address, classes: Sequence[object] | None) -> Any:
    """The goal: a class, a score of it, or None for any other decision."""
    label = _label(address.one("want"), classes)
    least, most = (_score(address.one(end)) for end in ("least", "most"))
    if least is None and most is None:
        return label
    return _band(least, most, label)


def _band(least: float | None, most: float | None, label: object) -> Goal:
    if least is None:
        return at_most(most or 0.0, label=label)
    if most is None:
        return at_least(least, label=label)
    return between(least, most, label=label)


def _label(text: str, classes: Sequence[object] | None) -> object:
    if text == "":
        return None
    known = {str(label): label for label in classes or ()}
    if text not in known:
        raise GoalError(f"the model never decides {text!r}: it knows {', '.join(known) or 'none'}")
    return known[text]


def _score(text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise GoalError(f"a score is a number, not {text!r}") from None


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= MOST_ANSWERS:
        raise OptionError(f"answers: a whole number from 1 to {MOST_ANSWERS}, not {text[:20]!r}")
    return int(text)


def _chosen(option: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise OptionError(f"{option} is one of {', '.join(known)}, not {given!r}")
    return given


def gone_of(request: Request) -> Gone:
    """Tells, on the thread of a page, whether its visitor has left or asked for something newer."""
    return lambda: from_thread.run(request.is_disconnected)


@contextmanager
def turn(project: Project, gone: Gone) -> Iterator[None]:
    """The project's lock, for callers who are still there when it is their turn."""
    until = time.monotonic() + WAIT_S
    while not project.lock.acquire(timeout=LOOK_S):
        if gone():
            raise ProblemError(503, "nobody waits for this any more")
        if time.monotonic() > until:
            raise project.busy()
    try:
        if gone():
            raise ProblemError(503, "nobody waits for this any more")
        yield
    finally:
        project.lock.release()


def explained(
    settings: Settings,
    project: Project,
    rows: Any,
    asked: PageQuestion,
    constraints: Constraints,
    gone: Gone,
    by: Mapping[str, str],
) -> Explanations:
    """The answers for a few rows, with what stands in the way where there are none."""
    explainer = project.explainer(asked.method, asked.prefer)
    note({"question": gist(vars(asked), asked.want, constraints.to_dict()), "rows": len(rows)})
    with turn(project, gone), asked_by([by] * len(rows)):
        return explainer.explain(
            rows,
            n=asked.n,
            want=asked.want,
            constraints=constraints,
            max_rows=bounded_rows(None, settings.model_rows),
            timeout_s=settings.explain_seconds,
            diagnose=bool(constraints) or bool(explainer.constraints),
            on_error="keep",
        )
