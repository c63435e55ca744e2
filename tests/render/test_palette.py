"""Text can be read on every colour that lies behind it."""

from __future__ import annotations

import pytest

from macex.render.palette import DARK, LIGHT, PRINT

TEXT = ("ink", "quiet", "accent", "good", "warn")
BEHIND = ("paper", "ground", "mark")


def contrast(one: str, other: str) -> float:
    """How far two colours are apart by WCAG: from 1 (equal) to 21 (black on white).

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return round((lighter + 0.05) / (darker + 0.05), 2)


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", [LIGHT, DARK, PRINT], ids=["light", "dark", "print"])
@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("text", TEXT)
def test_text_has_a_contrast_of_four_and_a_half_or_more(palette, text, behind):
    assert contrast(palette[text], palette[behind]) >= 4.5


def test_every_palette_has_every_role():
    assert LIGHT.keys() == DARK.keys() == PRINT.keys()


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_what_is_drawn_stands_out_from_the_paper(palette):
    assert contrast(palette["good"], palette["goal"]) >= 3
    assert contrast(palette["ink"], palette["goal"]) >= 3
