"""Colour where a terminal shows it: the text stays what it is, so that nothing moves."""

from __future__ import annotations

import os
import re
import sys
from typing import IO, Any

BOLD, DIM, RED, GREEN, YELLOW, BLUE, CYAN, PLAIN = (
    f"\x1b[{code}m" for code in ("1", "2", "1;31", "32", "33", "34", "36", "0")
)
# What is found in a finished text, and its colour. A text is coloured after it was laid out.
PATTERNS = (
    (r"^\d+(?=: )", BOLD),  # a row of a batch
    (r"^ +\d+\.(?= )", BOLD),  # an answer
    (r"→", CYAN),
    (r"[█▏▎▍▌▋▊▉]+", BLUE),
    (r"\bunusual(?: \d\.\d+)?\b(?! )|\bno answer\b|\bequals a training row\b", YELLOW),
    (r"\bfewest possible\b", GREEN),
    (r"^ *(?:usual|adds): [^\n]*(?:\n    [^\n]*)*", DIM),  # legends
)
_ANY = re.compile(
    "|".join(f"(?P<p{at}>{pattern})" for at, (pattern, _) in enumerate(PATTERNS)), re.MULTILINE
)


def say(text: Any) -> None:
    """Print a result, in colour on a terminal."""
    print(coloured(str(text), sys.stdout))


def complain(text: str) -> None:
    """Print what went wrong, with a red name on a terminal."""
    head = f"{RED}macex:{PLAIN}" if shows_colour(sys.stderr) else "macex:"
    print(f"{head} {text}", file=sys.stderr)


def coloured(text: str, stream: IO[str]) -> str:
    """The text as the stream shows it; its first line is bold.

    >>> import io
    >>> coloured("job cook → nurse", io.StringIO())
    'job cook → nurse'
    """
    if not shows_colour(stream):
        return text
    first, newline, rest = text.partition("\n")
    return f"{BOLD}{first}{PLAIN}{newline}{_ANY.sub(_in_colour, rest)}"


def shows_colour(stream: IO[str]) -> bool:
    """Whether a stream is a terminal with colours, and nobody asked for none (NO_COLOR)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream is not None and stream.isatty())


def _in_colour(found: re.Match[str]) -> str:
    colour = PATTERNS[int(str(found.lastgroup)[1:])][1]
    return f"{colour}{found[0]}{PLAIN}"
