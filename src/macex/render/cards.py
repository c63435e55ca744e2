"""What a card of the HTML pages shows of one explanation, as text and positions only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from macex.ask.answers import Needed
from macex.render.charts.chart import Chart
from macex.render.contexts import context
from macex.render.scores import (
    Scale,
    ScoreBar,
    bar,
    goal_text,
    needs_text,
    probabilities_text,
    score_line,
    score_text,
)
from macex.render.sentences import Badge, badges, brief, fewer_texts, no_answer
from macex.render.speech import Speech
from macex.render.stretches import Panel, is_stretch, panel, stretch_texts

ACTIONS = 4
PANELS = 12  # channels of an answer that are drawn
NARROW = 340.0  # pixels: what fits a phone as it is


@dataclass(frozen=True)
class CardLine:
    """A changed column: its value now, the one it would have, and a remark on it."""

    name: str
    before: str
    after: str
    remark: str


@dataclass(frozen=True)
class Answer:
    """A counterfactual, or the nearest miss."""

    heading: str
    label: str
    score: str
    bar: ScoreBar
    lines: tuple[CardLine, ...]
    badges: tuple[Badge, ...]
    panels: tuple[Panel, ...] = ()
    context: Chart | None = None
    probabilities: str = ""


@dataclass(frozen=True)
class CardAction:
    """A single change, its weight in percent, and whether it is enough."""

    name: str
    value: str
    share: int
    enough: bool


@dataclass(frozen=True)
class Card:
    """One explanation."""

    title: str
    label: str
    score: str
    goal: str
    found: bool
    why: str
    helps: str
    lead: str
    bounded: bool
    answers: tuple[Answer, ...]
    remarks: tuple[str, ...]
    actions: tuple[CardAction, ...]
    unchanged: tuple[tuple[str, str], ...]


def cards(items: Sequence[Any], speech: Speech, *, numbered: bool) -> list[Card]:
    """A card for each explanation, numbered by its place among them."""
    return [card(item, speech, row if numbered else None) for row, item in enumerate(items)]


def card(
    explanation: Any, speech: Speech, row: int | None = None, *, on_page: bool = False
) -> Card:
    """The card of one explanation; on a page it does not mention Python arguments."""
    found = explanation.counterfactuals
    shown = found or [miss for miss in [explanation.miss] if miss is not None]
    return Card(
        title=title(explanation, row, speech),
        label="" if explanation.label is None else speech.plain(explanation.label),
        score=score_line(explanation, speech),
        goal=goal_text(explanation, speech),
        found=bool(found),
        why="" if found else no_answer(explanation, speech),
        helps=_helps(explanation, speech, on_page=on_page),
        lead=brief(explanation, found[0], speech) if found else "",
        bounded=explanation.needed.bounded,
        answers=_answers(explanation, shown, speech),
        remarks=_remarks(explanation, speech),
        actions=_actions(explanation, speech),
        unchanged=_unchanged(explanation, shown, speech),
    )


def _unchanged(explanation: Any, shown: Sequence[Any], speech: Speech) -> tuple[Any, ...]:
    """The columns that no answer changes, with their values; channels have too many to list."""
    if explanation.of_series:
        return ()
    differing = {name for answer in shown for name in answer.source.written()}
    return tuple(
        (speech.name(name), speech.value(name, value))
        for name, value in explanation.source.cells().items()
        if name not in differing
    )


def counterfactual_answer(found: Any, speech: Speech) -> Answer:
    """A counterfactual on its own, which knows neither the score before nor the goal."""
    text = speech.say("score.now", {"score": speech.score(found.score)})
    drawn = bar(Scale.over([found.score], Needed()), Needed(), float("nan"), found.score, text)
    return Answer(
        heading=speech.say("card.counterfactual"),
        label=_label(found, speech),
        score=text,
        bar=drawn,
        lines=_lines(found, speech),
        badges=badges(found, None, speech),
    )


def title(explanation: Any, row: int | None, speech: Speech) -> str:
    """What is explained: a row by its place, its name or both."""
    name = explanation.source.id
    placed = "card.case" if explanation.of_series else "card.row"
    if row is None:
        alone = speech.say("card.alone")
        return alone if name is None else speech.say(placed, {"row": speech.plain(name)})
    if name is None or name == row:
        return speech.say(placed, {"row": row})
    return speech.say("card.row_named", {"row": row, "name": speech.plain(name)})


def _answers(explanation: Any, shown: Sequence[Any], speech: Speech) -> tuple[Answer, ...]:
    scores = [explanation.score, *(answer.score for answer in shown)]
    scale = Scale.over(scores, explanation.needed)
    return tuple(
        Answer(
            heading=_heading(explanation, rank, len(shown), speech),
            label=_label(answer, speech),
            score=score_text(explanation, answer, speech),
            bar=_bar(explanation, answer, scale, speech),
            lines=_lines(answer, speech),
            badges=badges(answer, explanation.minimal_over, speech),
            panels=_panels(explanation, answer, speech),
            context=_context(explanation, answer, speech),
            probabilities=probabilities_text(explanation, answer, speech),
        )
        for rank, answer in enumerate(shown, 1)
    )


def _context(explanation: Any, answer: Any, speech: Speech) -> Chart | None:
    """Where the changes lie; the name of a single one stands above it already."""
    drawn = context(explanation, answer, speech)
    return drawn and replace(drawn, named=len(drawn.ways) > 1, width=NARROW)


def _heading(explanation: Any, rank: int, count: int, speech: Speech) -> str:
    if not explanation.counterfactuals:
        return speech.say("card.miss")
    if count == 1:
        return speech.say("card.answer_only")
    return speech.say("card.answer", {"rank": rank})


def _label(answer: Any, speech: Speech) -> str:
    if answer.label is None:
        return ""
    label, alone = speech.plain(answer.label), getattr(answer, "label_score", None)
    if alone is not None:
        return speech.say("card.then_alone", {"label": label, "score": speech.score(alone)})
    return speech.say("card.then", {"label": label})


def _bar(explanation: Any, answer: Any, scale: Scale, speech: Speech) -> ScoreBar:
    before, after = (score_text(explanation, row, speech) for row in (explanation, answer))
    text = speech.say("score.before_after", {"before": before, "after": after})
    needs = needs_text(explanation, speech)
    text = f"{text}{speech.say('value.comma')}{needs}" if needs else text
    return bar(scale, explanation.needed, explanation.score, answer.score, text)


def _lines(found: Any, speech: Speech) -> tuple[CardLine, ...]:
    """The changed columns, then those that only follow from them."""
    if any(map(is_stretch, found.changes)):
        return tuple(_stretch_line(change, speech) for change in found.changes)
    changed = [_line(change, speech) for change in found.changes]
    averaged = getattr(found, "average", False)
    estimated = speech.say("card.averaged" if averaged else "card.estimated")
    follows = speech.say("card.follows")
    following = [
        CardLine(
            speech.name(change.column),
            *speech.change(change),
            estimated if change.column in found.estimated else follows,
        )
        for change in found.consequences
    ]
    return (*changed, *following)


def _stretch_line(change: Any, speech: Speech) -> CardLine:
    return CardLine(speech.name(change.channel), *stretch_texts(change, speech), "")


def _panels(explanation: Any, found: Any, speech: Speech) -> tuple[Panel, ...]:
    """The channels that an answer about a time series changes, as far as they are drawn."""
    if not explanation.of_series:
        return ()
    own, new = explanation.source.cells(), found.source.cells()
    changed = list(dict.fromkeys(change.channel for change in found.changes))[:PANELS]
    return tuple(
        panel(
            *(name, own[name], new[name], [c for c in found.changes if c.channel == name], speech),
            found.beside.get(name),
            explanation.times,
        )
        for name in changed
    )


def _line(change: Any, speech: Speech) -> CardLine:
    before, after = speech.change(change)
    interval, remark = change.interval, ""
    if interval is not None and interval.low != interval.high:
        low, high = speech.span(change.column, interval.low, interval.high)
        said = "card.holds" if interval.exact else "card.tested"
        remark = speech.say(said, {"low": low, "high": high})
    return CardLine(speech.name(change.column), before, after, remark)


def _remarks(explanation: Any, speech: Speech) -> tuple[str, ...]:
    found, asked = len(explanation.counterfactuals), explanation.asked.n or 0
    said = []
    if found and not _there(explanation) and found < asked:
        counted = speech.say("card.fewer", {"found": found, "asked": asked})
        said.append(" ".join([counted, *fewer_texts(explanation, speech)]))
    if found and explanation.fell_back:
        said.append(speech.say("card.fell_back", {"method": explanation.method}))
    return tuple(said)


def _helps(explanation: Any, speech: Speech, *, on_page: bool) -> str:
    if explanation.counterfactuals or explanation.diagnosis:
        return ""
    known = isfinite(explanation.score) or explanation.status != "not_found"
    if not known:
        return speech.say("no_answer.failed")
    return speech.say(f"no_answer.{'page_' if on_page else ''}{explanation.status}")


def _taken(action: Any, speech: Speech) -> str:
    """Where the channel of an action is taken from."""
    return speech.say("series.case", {"case": action.case})


def _there(explanation: Any) -> bool:
    """Whether the goal is reached as it is."""
    return any(not found.changes for found in explanation.counterfactuals[:1])


def _actions(explanation: Any, speech: Speech) -> tuple[CardAction, ...]:
    """The strongest single changes, of a row that needs any."""
    strongest = () if _there(explanation) else explanation.actions[:ACTIONS]
    return tuple(
        CardAction(
            speech.name(action.column),
            _taken(action, speech)
            if explanation.of_series
            else speech.setting(action.column, action.value),
            round(100 * action.weight),
            action.flips,
        )
        for action in strongest
    )
