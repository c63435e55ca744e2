"""What a row's page shows beside answers and fields: a curve, a map, a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macex.errors import MacexError
from macex.explainer.curves import curve_chart, curves, map_chart, score_map
from macex.explainer.variants import Aim, Variant, variant, whose
from macex.schema import Array, Rows
from macex.schema.text import text_of
from macex.server.pages.address import Address
from macex.server.pages.comparison import comparison, nearest_real


@dataclass(frozen=True)
class Pane:
    """Something that was worked out, or why it could not be."""

    content: Any = None
    fault: str = ""


def answer_codes(rows: Rows, shown: Sequence[Any]) -> list[tuple[str, Array]]:
    """The codes of a row's answers, each with what it is called."""
    texts = [
        {name: text_of(value) for name, value in one.source.written().items()} for one in shown
    ]
    return [
        (f"answer {turn}", variant(rows, "", cells).codes) for turn, cells in enumerate(texts, 1)
    ]


def curve_pane(aim: Aim, address: Address, variants: Sequence[Variant]) -> Pane | None:
    """The curve of the column that the address names."""
    column = address.one("curve")
    if not column:
        return None
    try:
        found = curves(aim, column, [one.codes for one in variants])
    except MacexError as error:
        return Pane(fault=str(error))
    of, probable = whose(aim.said.goal, aim.said.enough, aim.speech), aim.probable
    letters = [one.letter for one in variants]
    return Pane(curve_chart(found, letters, of, probable=probable))


def map_pane(
    aim: Aim, address: Address, base: Array, answers: Sequence[tuple[str, Array]]
) -> Pane | None:
    """The map of the two columns that the address names."""
    names = address.one("mapx"), address.one("mapy")
    if not all(names):
        return None
    shown = [("this row", "row", aim.rows.codes[0])]
    shown += [(name, "answer", codes) for name, codes in answers]
    try:
        nearest = nearest_real(aim)
        if nearest is not None:
            shown.append(("nearest real row", "nearest", nearest))
        found = score_map(aim, names, base, shown)
    except MacexError as error:
        return Pane(fault=str(error))
    return Pane(map_chart(found, whose(aim.said.goal, aim.said.enough, aim.speech)))


def compare_pane(aim: Aim, answers: Sequence[tuple[str, Array]]) -> Pane:
    """The row beside its answers and real rows."""
    try:
        return Pane(comparison(aim, answers, "this row"))
    except MacexError as error:
        return Pane(fault=str(error))
