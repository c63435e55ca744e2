"""A letter about one decision, from a template: text or HTML.

A template is Jinja2 in a sandbox. It gets `decision`, `goal`, `reasons` (each with `code` and
`text`), `answers` (sentences), `changes` (of the first answer, each with `name`, `before` and
`after`), `row` (names and values) and whatever places the caller adds. In HTML everything that
comes from the caller is escaped. A place without a value is an error, not a gap in a letter.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from macex.errors import OptionError, RenderError, closest
from macex.render.exports import pdf_bytes
from macex.render.names import CodeTable, reason_codes
from macex.render.sentences import sentences
from macex.render.speech import ENGLISH, Speech

Form = Literal["text", "html"]
FORMS = ("text", "html")
ENDINGS: dict[str, Form] = {".txt": "text", ".html": "html", ".pdf": "html"}
TEXT = """{{ said.subject }}

{{ said.decided }}
{% if reasons %}
{{ said.reasons }}
{% for reason in reasons %}
- {{ reason }}
{% endfor %}
{% endif %}
{{ said.answers }}
{% for answer in answers %}
- {{ answer }}
{% endfor %}

{{ said.closing }}
"""
HTML = """<!DOCTYPE html>
<html lang="{{ language }}"><head><meta charset="utf-8"><title>{{ said.subject }}</title></head>
<body><h1>{{ said.subject }}</h1><p>{{ said.decided }}</p>
{% if reasons %}<p>{{ said.reasons }}</p>
<ul>{% for reason in reasons %}<li>{{ reason }}</li>{% endfor %}</ul>{% endif %}
<p>{{ said.answers }}</p>
<ul>{% for answer in answers %}<li>{{ answer }}</li>{% endfor %}</ul>
<p>{{ said.closing }}</p></body></html>
"""


def letter(
    explanation: Any,
    template: str | Path | None = None,
    *,
    form: Form = "text",
    language: str | Path = ENGLISH,
    codes: CodeTable | None = None,
    places: Mapping[str, Any] | None = None,
) -> str:
    """The letter of one explanation."""
    if form not in FORMS:
        raise OptionError(f"form={form!r}{closest(form, FORMS)}")
    source = (TEXT if form == "text" else HTML) if template is None else _source(template)
    room = ImmutableSandboxedEnvironment(
        autoescape=form == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    told = {**_told(explanation, language, codes), **(places or {})}
    try:
        return room.from_string(source).render(told)
    except TemplateSyntaxError as error:
        raise RenderError(f"the letter's template, line {error.lineno}: {error}") from error
    except (TemplateError, TypeError, ValueError) as error:
        raise RenderError(f"the letter's template: {error}") from error


def written(
    explanation: Any,
    path: str,
    template: str | Path | None,
    *,
    language: str | Path,
    codes: CodeTable | None,
    places: Mapping[str, Any] | None,
) -> bytes:
    """The letter as the bytes of a file, whose ending says the form."""
    ending = Path(path).suffix
    if ending not in ENDINGS:
        raise OptionError(f"{path}: a letter ends in {', '.join(ENDINGS)}")
    text = letter(
        explanation, template, form=ENDINGS[ending], language=language, codes=codes, places=places
    )
    return pdf_bytes(text) if ending == ".pdf" else text.encode()


def _source(template: str | Path) -> str:
    """The text of a template: of a file if it is a path, else itself."""
    if not isinstance(template, Path):
        return template
    try:
        return template.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RenderError(f"the letter's template {template} cannot be read: {error}") from error


def _told(explanation: Any, language: str | Path, codes: CodeTable | None) -> dict[str, Any]:
    """What every template may say."""
    speech = Speech(explanation.names, language)
    decision = "" if explanation.label is None else speech.plain(explanation.label)
    first = explanation.counterfactuals[0].changes if explanation.counterfactuals else ()
    cells = explanation.source.cells()
    return {
        "language": speech.say("language.code"),
        "decision": decision,
        "goal": explanation.goal.text,
        "status": explanation.status,
        "reasons": reason_codes(explanation, codes),
        "answers": sentences(explanation, language),
        "changes": [_change(change, speech) for change in first],
        "row": {speech.name(column): speech.value(column, cells[column]) for column in cells},
        "said": {
            part: speech.say(f"letter.{part}", {"decision": decision} if part == "decided" else {})
            for part in ("subject", "decided", "reasons", "answers", "closing")
        },
    }


def _change(change: Any, speech: Speech) -> dict[str, str]:
    before, after = speech.change(change)
    return {"name": speech.name(change.column), "before": before, "after": after}
