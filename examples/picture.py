"""Draw one explanation as an SVG: `python examples/picture.py docs/images/explanation.svg`.

The row, the model and the answers are those of the demo. The picture needs no fonts or files of
its own and follows the reader's light or dark scheme.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

import numpy as np
from demo import SHORT, SPOKEN, fitted
from threadpoolctl import threadpool_limits

import macex as mx
from macex.datasets import load
from macex.render.sentences import badges
from macex.render.speech import Speech
from macex.render.values import score_text, shown

LEFT, TOP, LINE = 28, 118, 34
NAMES, CELLS = 150, 150
STYLE = """
svg { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; }
.paper { fill: #ffffff; stroke: #d5d9e0; } .ink { fill: #1d2129; } .quiet { fill: #5b6472; }
.mark { fill: #fff3c4; } .rule { stroke: #d5d9e0; }
.bar { fill: #1f5fbf; } .track { fill: #e4e8ee; } .bound { stroke: #17693f; stroke-width: 1.5; }
.title { font-size: 17px; font-weight: 600; }
.strong { font-weight: 600; } .small { font-size: 12px; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #1b1e24; stroke: #3a404b; } .ink { fill: #e7e9ee; } .quiet { fill: #a3abb8; }
  .mark { fill: #4a3f12; } .rule { stroke: #3a404b; }
  .bar { fill: #8db8ff; } .track { fill: #333943; } .bound { stroke: #84d4a4; }
}
"""


def explained() -> mx.Explanation:
    """The demo's first row with three answers."""
    adult = load("adult")
    frame = adult.frame.rename(columns=SHORT)
    train, _ = adult.split()
    with threadpool_limits(1):
        model = fitted(frame.iloc[train], np.array(adult.labels)[adult.label[train]])
        explainer = mx.Explainer(model, frame.iloc[train], names=SPOKEN)
        return explainer.explain(frame.iloc[adult.rows(20)[[9]]], n=3)[0]


def drawn(explanation: mx.Explanation) -> str:
    """The explanation as an SVG document."""
    answers = explanation.counterfactuals
    query = explanation.source.cells()
    width = 2 * LEFT + NAMES + CELLS * (1 + len(answers))
    foot = TOP + LINE * (len(query) + 1)
    end = foot + 62 + 18 * max(len(known(explanation, answer)) for answer in answers)
    parts = [
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{end - 1}" rx="10"/>',
        words(LEFT, 40, "What is the least that would have to be different?", "ink title"),
        words(
            LEFT,
            66,
            f"The model decides {explanation.label}. Three rows that it would decide otherwise, "
            "where the score passes the line:",
            "quiet",
        ),
        *heading(len(answers), width),
    ]
    for place, (column, value) in enumerate(query.items()):
        parts += line(explanation, column, shown(value), TOP + LINE * (place + 1))
    for rank, answer in enumerate(answers, 1):
        parts += verdict(explanation, answer, across(rank), foot + 14)
    parts += [words(LEFT, foot + 14, "decision", "quiet"), words(LEFT, foot + 38, "score", "quiet")]
    parts += [words(across(0), foot + 14, shown(explanation.label), "ink strong")]
    parts += score(explanation.score, across(0), foot + 38)
    size = f'viewBox="0 0 {width} {end}" width="{width}" height="{end}"'
    label = escape(" ".join(explanation.sentences()), quote=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def heading(answers: int, width: int) -> list[str]:
    names = ["now", *(f"answer {rank}" for rank in range(1, answers + 1))]
    cells = [words(across(place), TOP - 8, name, "quiet") for place, name in enumerate(names)]
    rule = f'<line class="rule" x1="{LEFT}" x2="{width - LEFT}" y1="{TOP + 4}" y2="{TOP + 4}"/>'
    return [*cells, rule]


def line(explanation: mx.Explanation, column: str, before: str, base: int) -> list[str]:
    """One column of the row: its name, its value now, and its value where an answer changes it."""
    name = Speech(explanation.names).name(column)
    parts = [words(LEFT, base, name, "quiet"), words(across(0), base, before, "ink")]
    for rank, answer in enumerate(explanation.counterfactuals, 1):
        after = {change.column: shown(change.after) for change in answer.changes}.get(column)
        if after is None:
            parts.append(words(across(rank), base, "same", "quiet"))
            continue
        box = f'x="{across(rank) - 8}" y="{base - 19}" width="{CELLS - 12}" height="28" rx="5"'
        parts += [f'<rect class="mark" {box}/>', words(across(rank), base, after, "ink strong")]
    return parts


def verdict(explanation: mx.Explanation, answer: mx.Counterfactual, x: int, y: int) -> list[str]:
    """The decision, the score and what is known of an answer."""
    said = [
        words(x, y + 48 + 18 * place, text, "quiet small")
        for place, text in enumerate(known(explanation, answer))
    ]
    return [words(x, y, shown(answer.label), "ink strong"), *score(answer.score, x, y + 24), *said]


def known(explanation: mx.Explanation, answer: mx.Counterfactual) -> list[str]:
    """What is known of an answer, in few words each."""
    speech = Speech(explanation.names)
    return [badge.text for badge in badges(answer, explanation.minimal_over, speech)]


def score(value: float, x: int, y: int) -> list[str]:
    """A score as text and as a bar on a track, with a line at one half."""
    track = f'<rect class="track" x="{x + 40}" y="{y - 9}" width="80" height="8" rx="4"/>'
    length = round(80 * value, 1)
    bar = f'<rect class="bar" x="{x + 40}" y="{y - 9}" width="{length}" height="8" rx="4"/>'
    line = f'<line class="bound" x1="{x + 80}" x2="{x + 80}" y1="{y - 13}" y2="{y + 3}"/>'
    return [words(x, y, score_text(value), "ink"), track, bar, line]


def words(x: int, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(text)}</text>'


def across(place: int) -> int:
    """Where a column of the table begins; 0 is the row itself."""
    return LEFT + NAMES + CELLS * place


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawn(explained()), encoding="utf-8")
