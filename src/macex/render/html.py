"""Results as HTML: a fragment for notebooks, a page that stands alone.

Everything that comes from the caller is escaped by the templates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from macex.causes import drawn
from macex.render.cards import card, cards, counterfactual_answer
from macex.render.names import Names
from macex.render.overview import overview
from macex.render.palette import DARK, LIGHT, PRINT
from macex.render.sheets import Sheet
from macex.render.speech import ENGLISH, NOTHING, Speech

OPEN = 3  # cards of a batch that a notebook shows unfolded
FACTS = (  # what a report says of its question, in this order
    "rows",
    "filter",
    "want",
    "constraints",
    "n",
    "method",
    "prefer",
    "seed",
    "model",
    "version",
    "asked_by",
    "asked_at",
    "made",
)


def explanation_fragment(explanation: Any, language: str | Path = ENGLISH) -> str:
    """The card of one explanation."""
    speech = Speech(explanation.names, language, explanation.of_series)
    (card,) = cards([explanation], speech, numbered=False)
    return _rendered("card.html.j2", speech, {"card": card})


def batch_fragment(
    items: Sequence[Any], total: int, names: Names, language: str | Path = ENGLISH
) -> str:
    """Cards for a notebook: the first of a batch of `total`, all but a few folded."""
    speech = Speech(names, language, any(item.of_series for item in items))
    values = {"cards": cards(items, speech, numbered=True), "left": total - len(items)}
    return _rendered("cards.html.j2", speech, {**values, "open": OPEN})


def counterfactual_fragment(found: Any, language: str | Path = ENGLISH) -> str:
    """One counterfactual on its own."""
    speech = Speech(found.names, language)
    return _rendered(
        "counterfactual.html.j2", speech, {"answer": counterfactual_answer(found, speech)}
    )


def summary_fragment(summary: Any, language: str | Path = ENGLISH) -> str:
    """A summary for a notebook."""
    speech = Speech(summary.names, language, summary.of_series)
    sheets = [] if summary.plan is None else [summary.plan.sheet_in(language)]
    values = {"overview": overview(summary, speech), "sheets": sheets}
    return _rendered("summary.html.j2", speech, values)


def facts_fragment(title: str, facts: Mapping[str, str]) -> str:
    """A short table of facts, each with its name."""
    return _rendered("facts.html.j2", Speech(), {"title": title, "facts": facts})


def sheet_fragment(sheet: Sheet) -> str:
    """A finding about many rows, for a notebook."""
    return _rendered("sheet.html.j2", Speech(), {"sheet": sheet})


def style_sheet(template: str, values: Mapping[str, Any] = NOTHING) -> str:
    """A style sheet: of a page, a widget (`widget.css.j2`) or a chart."""
    return _rendered(template, Speech(), values)


def widget_form(groups: Sequence[Any], kept: Sequence[str], together: int, speech: Speech) -> str:
    """The fields of a row in their groups; the columns in `kept` have their lock closed."""
    count = sum(len(group.fields) for group in groups)
    values = {"groups": groups, "kept": kept, "count": count, "together": together}
    return _rendered("widget.html.j2", speech, values)


def widget_verdicts(values: Mapping[str, Any], speech: Speech) -> str:
    """What the model says of a row (`own`) and of a variant (`then`), or the `fault`."""
    return _rendered("widget_verdicts.html.j2", speech, {"fault": "", **values})


def widget_answers(explanation: Any, fault: str, speech: Speech) -> str:
    """The answers for a row, each with a button that applies it, or the `fault` of the question."""
    shown = None if explanation is None else card(explanation, speech, on_page=True)
    return _rendered("widget_answers.html.j2", speech, {"card": shown, "fault": fault})


def result_page(
    result: Any, facts: Mapping[str, Any], title: str | None = None, language: str | Path = ENGLISH
) -> str:
    """A page of its own around the fragment of a result, which is markup already."""
    speech = Speech({}, language)
    values = {
        "kind": speech.say(f"report.kind_{type(result).__name__}") if title is None else title,
        "title": result.heading(language) if title is None else title,
        "fragment": Markup(result.fragment(language)),  # noqa: S704
        "facts": fact_lines(facts, speech),
    }
    return _rendered("result_page.html.j2", speech, values)


def fact_lines(facts: Mapping[str, Any], speech: Speech) -> list[tuple[str, str]]:
    """What was asked, in the words of the reader where they are known."""
    known = [key for key in FACTS if facts.get(key) not in (None, "")]
    others = [key for key in facts if key not in FACTS]
    lines = [(speech.say(f"report.fact_{key}"), speech.plain(facts[key])) for key in known]
    return [*lines, *((key, speech.plain(facts[key])) for key in others)]


def report(
    items: Sequence[Any],
    summary: Any,
    meta: Mapping[str, Any],
    *,
    total: int,
    title: str | None = None,
    language: str | Path = ENGLISH,
    sheets: Sequence[Sheet] = (),
    made: str = "",
) -> str:
    """A self-contained page."""
    speech = Speech(summary.names, language, summary.of_series)
    told = dict(meta)
    causes = told.pop("causes", None)
    graph = causes and Markup(drawn(causes, called=speech.name))  # noqa: S704 - it escapes names
    values = {
        "cards": cards(items, speech, numbered=True),
        "causes": graph,
        "left": total - len(items),
        "title": speech.say("report.title") if title is None else title,
        "facts": fact_lines({"rows": total, **told, "made": made}, speech),
        "overview": overview(summary, speech),
        "sheets": sheets,
    }
    return _rendered("report.html.j2", speech, values)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("macex.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _rendered(template: str, speech: Speech, values: Mapping[str, Any]) -> str:
    palettes = {"light": LIGHT, "dark": DARK, "paper": PRINT}
    return _templates().get_template(template).render({**values, "speech": speech, **palettes})
