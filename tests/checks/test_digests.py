"""The answers to a fixed set of questions are the bytes they were.

The digests stand in `digests.json`. A change that alters answers on purpose says so in the
changelog and writes them anew, after a look at which questions they concern: `make digests`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "src"), str(Path(__file__).parents[1])]

from checks.questions import questions

FILE = Path(__file__).with_name("digests.json")
KNOWN = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
ALL = dict(questions())


def digest(name: str) -> str:
    """The digest of the answers to a question."""
    return hashlib.sha256(ALL[name]().to_json(canonical=True).encode()).hexdigest()


def test_every_question_has_a_digest():
    assert list(ALL) == list(KNOWN)


@pytest.mark.parametrize("name", ALL)
def test_the_answers_are_the_bytes_they_were(name):
    assert digest(name) == KNOWN[name]


def rewrite() -> None:
    """Write the digests anew and say which of them are new."""
    made = {name: digest(name) for name in ALL}
    changed = [name for name in made if KNOWN.get(name) != made[name]]
    FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write("\n".join([*changed, f"{len(changed)} of {len(made)} digests are new\n"]))


if __name__ == "__main__":
    rewrite()
