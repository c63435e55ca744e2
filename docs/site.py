"""What mkdocs does with these pages beyond their text: the contents, and links to the sources."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ENTRY = re.compile(r"(?P<indent> *)- (?:\[(?P<title>[^\]]+)\]\((?P<page>[^)]+)\)|(?P<section>.+))")
SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:src|tests|examples)/[^)]*\)")


def on_config(config: Any) -> Any:
    """The table of contents is the list in README.md."""
    text = (Path(config.docs_dir) / "README.md").read_text(encoding="utf-8")
    config.nav = [{"Overview": "README.md"}, *contents(text)]
    return config


def contents(text: str) -> list[dict[str, Any]]:
    r"""Pages and sections as mkdocs lists them.

    >>> contents("- [Tutorial](tutorial.md): begin\n- How to\n  - [say what](how-to/goals.md)")
    [{'Tutorial': 'tutorial.md'}, {'How to': [{'Say what': 'how-to/goals.md'}]}]
    """
    listed: list[dict[str, Any]] = []
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry is None:
            continue
        if entry["section"]:
            listed.append({entry["section"]: []})
            continue
        page = {entry["title"][0].upper() + entry["title"][1:]: entry["page"]}
        inside = next(iter(listed[-1].values())) if entry["indent"] and listed else listed
        inside.append(page)
    return listed


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The sources are not part of the site: a link to one becomes its name."""
    return SOURCE.sub(r"\1", markdown)
