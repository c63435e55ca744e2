"""What a plan says: its title, its tables with bars, and its actions in words, in any language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macex.render.sheets import Grid, Sheet, percent

if TYPE_CHECKING:
    from macex.cohort.moves import Move
    from macex.cohort.plans import Plan, PlannedAction
    from macex.render.speech import Speech

STRIP = 4  # actions that stand for themselves in a bar of all rows


def plan_sheet(plan: Plan, speech: Speech) -> Sheet:
    """The plan as a bar of all rows, and a table with a bar for each action."""
    parts = [_grid(p, speech, f"{name}: {_title(p, speech)}") for name, p in plan.groups.items()]
    grids = parts or [_grid(plan, speech)] * bool(plan.actions)
    return Sheet(
        _title(plan, speech),
        _figures(plan, speech),
        tuple(grids),
        _remarks(plan, speech),
        _strip(plan, speech),
    )


def _title(plan: Plan, speech: Speech) -> str:
    """How many rows the actions flip, in a line."""
    if not plan.asked:
        return speech.say("plan.unneeded")
    if not plan.flipped:
        return speech.say_counted("plan.nobody", plan.asked)
    places = {"flipped": plan.flipped, "share": _share(plan.coverage, speech)}
    rows = speech.say_counted("plan.rows", plan.asked)
    flipped = speech.say("plan.flipped", {**places, "rows": rows})
    if plan.groups:
        groups = speech.say_counted("plan.groups", len(plan.groups))
        return speech.say("plan.grouped", {"groups": groups, "flipped": flipped})
    return f"{speech.say_counted('plan.actions', len(plan.actions))} {flipped}"


def _figures(plan: Plan, speech: Speech) -> tuple[tuple[str, str], ...]:
    return (
        (_share(plan.coverage, speech), speech.say("plan.share")),
        (str(plan.asked - plan.flipped), speech.say("plan.left")),
        (str(plan.already), speech.say("plan.already")),
    )


def _strip(plan: Plan, speech: Speech) -> tuple[tuple[str, float], ...]:
    """What each action adds, and what is left, as shares of the rows in need."""
    if not plan.actions:
        return ()
    first, rest = plan.actions[:STRIP], plan.actions[STRIP:]
    parts = [(action_text(a, speech), a.adds / plan.asked) for a in first]
    if rest:
        more = speech.say_counted("plan.more", len(rest))
        parts.append((more, sum(a.adds for a in rest) / plan.asked))
    parts.append((speech.say("plan.rest"), 1 - plan.coverage))
    return tuple((f"{name}: {_share(share, speech)}", share) for name, share in parts)


def _remarks(plan: Plan, speech: Speech) -> tuple[str, ...]:
    said = [speech.say_counted("plan.there", plan.already)] if plan.already else []
    if plan.asked and not plan.flipped:
        said.append(speech.say("plan.advice"))
    return tuple(said)


def _grid(plan: Plan, speech: Speech, title: str = "") -> Grid:
    lines = tuple(
        (
            action_text(action, speech),
            f"{action.flips} ({_share(action.flips / plan.asked, speech)})",
            f"+{action.adds}",
            speech.score(action.cost),
            _share(action.plausible, speech),
        )
        for action in plan.actions
    )
    return Grid(
        title,
        tuple(speech.say(f"plan.{head}") for head in ("action", "flips", "adds", "cost", "usual")),
        lines,
        tuple(action.flips / plan.asked for action in plan.actions),
        speech.say("plan.note") if lines and not title else "",
    )


def _share(share: float, speech: Speech) -> str:
    return percent(share).replace(".", speech.say("language.decimal"))


def action_text(action: PlannedAction, speech: Speech) -> str:
    """An action in words.

    >>> from macex.cohort.plans import Move, PlannedAction
    >>> from macex.render.speech import Speech
    >>> moves = (Move("hours", by=5), Move("job", to="full-time"))
    >>> action_text(PlannedAction(moves, 7, 3, 1.0), Speech())
    'hours + 5, job → full-time'
    """
    return ", ".join(_move_text(move, speech) for move in action.moves)


def _move_text(move: Move, speech: Speech) -> str:
    """A move in words.

    >>> from datetime import timedelta
    >>> from macex.cohort.moves import Move
    >>> from macex.render.speech import Speech
    >>> _move_text(Move("since", by=timedelta(days=-30)), Speech())
    'since - 30 days'
    """
    name = speech.name(move.column)
    for bound in ("at_least", "at_most"):
        value = getattr(move, bound)
        if value is not None:
            places = {"name": name, "value": speech.value(move.column, value)}
            return speech.say(f"plan.{bound}", places)
    if move.by is None:
        return f"{name} → {speech.value(move.column, move.to)}"
    up = move.by > move.by * 0
    long = hasattr(move.by, "days")
    size = _span(abs(move.by), speech) if long else speech.plain(abs(move.by))
    return f"{name} {'+' if up else '-'} {size}"


def _span(span: Any, speech: Speech) -> str:
    return speech.say_counted("plan.days", span.days) if span.days else str(span)
