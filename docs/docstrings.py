"""Docstrings for the site: `name : what it is` says what a parameter is, not its type."""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(
    r"(?P<head>^Parameters\n-+\n)(?P<body>.*?)(?=\n\n|\Z)", re.DOTALL | re.MULTILINE
)
ENTRY = re.compile(r"^(?P<name>\w[\w, ]*) : (?P<text>.*)$", re.MULTILINE)


class Parameters(griffe.Extension):
    """Moves what is said of a parameter below its name."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = restyled(obj.docstring.value)


def restyled(text: str) -> str:
    r"""A docstring whose parameters stand on lines of their own.

    >>> restyled("Parameters\n----------\nn : how many\n    there are.")
    'Parameters\n----------\nn\n    how many\n    there are.'
    """
    return SECTION.sub(
        lambda found: found["head"] + ENTRY.sub(r"\g<name>\n    \g<text>", found["body"]), text
    )
