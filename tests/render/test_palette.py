"""Text can be read on every colour that lies behind it."""

from __future__ import annotations

import pytest

from macex.render.palette import BEHIND, DARK, LIGHT, PRINT, TEXT, contrast


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
