"""Message catalogues: everything a page or a sentence says, one file for each language.

A catalogue is a TOML file of short texts with places in braces. What a file leaves out is said in
English, and a place that the English text does not have is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any

from macex.errors import OptionError, closest, require_path

Messages = dict[str, str]
ENGLISH = "en"
SERIES = "of_series."  # before the messages about time series that stand in for others


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
