"""A voice: the names that a caller gave, and the words of one language.

Everything that a page or a sentence says is in a message catalogue, one for each language: a TOML
file of short texts with places in braces. What a file leaves out is said in English, and a place
that the English text does not have is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from math import isfinite
from numbers import Real
from pathlib import Path
from string import Formatter
from typing import Any

from macex.errors import OptionError, closest, require_path
from macex.render.names import Name, Names, called
from macex.render.values import before_after, exactly, score_text, scores, shown, within

Messages = dict[str, str]
ENGLISH = "en"
SERIES = "of_series."  # the prefix of messages that replace others where time series are meant
NOTHING: Mapping[str, object] = {}


def messages(language: str | Path) -> Messages:
    """The messages of a language that comes with macex, or of a file.

    >>> messages("de")["value.missing"]
    'nicht angegeben'
    """
    require_path("language=", language)
    return _messages(language)


@cache
def _messages(language: str | Path) -> Messages:
    path = Path(language)
    if path.suffix == ".toml":
        given = _checked(_read(path.read_bytes(), str(path)), str(path))
        series = {f"{SERIES}{key}": text for key, text in given.items()}
        said = {key: series[key] for key in _english().keys() & series.keys()}
        return _english() | said | given
    if language not in known_languages():
        raise OptionError(
            f"language={str(language)!r}{closest(language, known_languages())}, "
            "or the path of a .toml catalogue"
        )
    return _english() | _shipped(str(language))


def of_series(known: Messages) -> Messages:
    """What is said of time series in place of what is said of rows.

    >>> of_series(messages("en"))["summary.empty"]
    'No cases'
    """
    return {key.removeprefix(SERIES): known[key] for key in known if key.startswith(SERIES)}


def known_languages() -> list[str]:
    """The languages that come with macex.

    >>> known_languages()
    ['de', 'en']
    """
    folder = files("macex.render").joinpath("messages")
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir())


@cache
def _english() -> dict[str, str]:
    return _shipped(ENGLISH)


def _shipped(language: str) -> dict[str, str]:
    file = files("macex.render").joinpath("messages", f"{language}.toml")
    return _read(file.read_bytes(), file.name)


def _read(content: bytes, where: str) -> dict[str, str]:
    try:
        return dict(_flat(tomllib.loads(content.decode())))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OptionError(f"the catalogue {where} cannot be read: {error}") from error


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for key, entry in table.items():
        if isinstance(entry, Mapping):
            yield from _flat(entry, f"{before}{key}.")
        else:
            yield before + key, str(entry)


def _checked(given: dict[str, str], where: str) -> dict[str, str]:
    for key, text in given.items():
        if key not in _english():
            raise OptionError(f"the catalogue {where} has {key!r}{closest(key, _english())}")
        odd = _places(text, where) - _places(_english()[key], where)
        if odd:
            known = _places(_english()[key], where)
            raise OptionError(
                f"the catalogue {where}: {key!r} has no place {min(odd)!r}"
                f"{closest(min(odd), sorted(known))}"
            )
    return given


def _places(text: str, where: str) -> set[str]:
    try:
        return {place for _, place, _, _ in Formatter().parse(text) if place is not None}
    except ValueError as error:
        raise OptionError(f"the catalogue {where}: {text!r} cannot be read: {error}") from error


@dataclass(frozen=True)
class Speech:
    """How columns are called, values are written and messages are said.

    >>> Speech({"pay": Name("income", unit="€")}, "de").value("pay", 0.5)
    '0,5 €'
    """

    names: Names = field(default_factory=dict)
    language: str | Path = ENGLISH
    of_series: bool = False  # then rows are called cases, and columns channels

    @cached_property
    def messages(self) -> Messages:
        """The catalogue of the language."""
        known = messages(self.language)
        return known if not self.of_series else known | of_series(known)

    def say(self, key: str, values: Mapping[str, object] = NOTHING) -> str:
        """A message with its places filled."""
        return self.messages[key].format_map(values)

    def say_counted(self, key: str, count: int) -> str:
        """A message about a count: one text for 1, another for other numbers."""
        return self.say(f"{key}_{'one' if count == 1 else 'many'}", {"count": count})

    def name(self, column: str) -> str:
        """What a column is called; a group that moves together by all its names."""
        if column in self.names or "+" not in column:
            return called(column, self.names)
        return self.listed([called(part, self.names) for part in column.split("+")])

    def plain(self, value: object) -> str:
        """A value of no column: a label, or the name of a row."""
        if value is None:
            return self.say("value.missing")
        if isinstance(value, tuple):
            return self.say("value.comma").join(self.plain(part) for part in value)
        return self._localised(value, shown(value))

    def value(self, column: str, value: object) -> str:
        """A value of a column as the caller wants it written, with its unit."""
        return self._dressed(column, value, self.plain(value))

    def setting(self, column: str, value: object) -> str:
        """A value to be set, with all the digits it takes."""
        plain = self.plain(value) if value is None or isinstance(value, tuple) else exactly(value)
        return self._dressed(column, value, self._localised(value, plain))

    def span(self, column: str, low: object, high: object) -> tuple[str, str]:
        """The ends of a range, no wider than it is."""
        low_text, high_text = (
            self._localised(end, text)
            for end, text in zip((low, high), within(low, high), strict=True)
        )
        return self._dressed(column, low, low_text), self._dressed(column, high, high_text)

    def change(self, change: Any) -> tuple[str, str]:
        """A change's two values, so that the difference can be seen."""
        pair = change.before, change.after
        texts = before_after(*pair)
        if change.before is None or change.after is None:
            texts = self.plain(change.before), self.plain(change.after)
        plain = [self._localised(v, text) for v, text in zip(pair, texts, strict=True)]
        before, after = (
            self._dressed(change.column, v, text) for v, text in zip(pair, plain, strict=True)
        )
        return (before, after) if before != after else (plain[0], plain[1])

    def score(self, score: float) -> str:
        """One score with two decimals."""
        text = score_text(score)
        return self.say("value.unknown") if text == "unknown" else self._decimal(text)

    def score_apart(self, score: float, others: Sequence[float]) -> str:
        """A score with as many decimals as it takes to tell it from others.

        >>> Speech().score_apart(0.4983, [0.5, 0.1])
        '0.498'
        """
        texts = [scores(score, other)[0] for other in others if isfinite(other)]
        known = isfinite(score) and texts
        return self._decimal(max(texts, key=len)) if known else self.score(score)

    def scores(self, before: float, after: float) -> tuple[str, str]:
        """Two scores, with as many decimals as it takes to tell them apart."""
        first, second = scores(before, after)
        return self._decimal(first), self._decimal(second)

    def number(self, number: float) -> str:
        """A number of a summary."""
        return self._decimal(
            shown(float(f"{number:.3g}")) if abs(number) < 1000 else f"{number:,.0f}"
        )

    def bound(self, bound: float) -> str:
        """A bound of a score as it was set: all its digits."""
        return self._decimal(f"{bound:.6g}")

    def listed(self, parts: Sequence[str], joint: str = "and") -> str:
        """Parts joined as a sentence joins them, the last by "and" or "or".

        >>> Speech().listed(["a", "b", "c"])
        'a, b and c'
        """
        *first, last = parts
        return (
            self.say("value.comma").join(first) + self.say(f"value.{joint}") + last
            if first
            else last
        )

    def _dressed(self, column: str, value: object, text: str) -> str:
        name = self.names.get(column)
        if not isinstance(name, Name) or value is None:
            return text
        written = name.written(value)
        return written or (f"{text} {name.unit}" if name.unit else text)

    def _localised(self, value: object, text: str) -> str:
        number = isinstance(value, Real) and not isinstance(value, bool)
        return self._decimal(text) if number else text

    def _decimal(self, text: str) -> str:
        mark = self.messages["language.decimal"]
        return text if mark == "." else text.translate(str.maketrans(".,", f"{mark}."))
