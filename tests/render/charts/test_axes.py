"""Texts of dots stand where they can be read: inside the plot, and not on each other."""

from __future__ import annotations

import re
from html import unescape
from itertools import combinations

import pytest

from macex.render.charts import Bar, Bars, Curve, Dot, Histogram, Layer, Measure, Scatter, Stack
from macex.render.charts.chart import wide

AGE, HOURS = Measure("age", 0.0, 100.0), Measure("hours", 0.0, 100.0)
TEXT = re.compile(
    r'<text x="([\d.]+)" y="([\d.]+)"(?: text-anchor="(end)")? class="mx-told">(.*?)<'
)
CROWD = [(50.0, 50.0), (51.0, 50.0), (51.5, 51.0), (52.0, 50.0), (99.0, 99.0), (0.0, 0.0)]


def boxes(svg):
    for x, y, end, said in TEXT.findall(svg):
        right = float(x) if end else float(x) + wide(said)
        yield right - wide(said), float(y) - 9, right, float(y) + 3


def test_texts_of_near_dots_lie_apart_and_inside():
    dots = tuple(Dot(x, y, f"answer {at}") for at, (x, y) in enumerate(CROWD))
    found = list(boxes(Scatter(AGE, HOURS, (), dots=dots).svg()))
    assert len(found) == len(CROWD)
    assert all(left >= 0 and right <= 560 for left, _, right, _ in found)
    for one, other in combinations(found, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)


def test_a_text_without_room_is_told_by_its_dot():
    dots = tuple(Dot(50.0, 50.0, f"the answer of number {at}") for at in range(40))
    svg = Curve(AGE, HOURS, (), dots=dots).svg()
    assert svg.count("<title>the answer of number") == 40
    assert 0 < len(list(boxes(svg))) < 40


def test_what_a_bar_says_stands_beyond_the_bar_below_it():
    svg = Bars((Bar("gender", 0.0, "0 %", beside=0.5),), "", ("answers", "shuffled")).svg()
    second = re.search(r'mx-bar-1" x="([\d.]+)" y="[\d.]+" width="([\d.]+)".*?\(', svg)
    said = re.search(r'<text x="([\d.]+)"[^>]*>0 %<', svg)
    assert float(said[1]) > float(second[1]) + float(second[2])


@pytest.mark.parametrize("words", ["of the decision >50K and WWW " * 4, "short"])
def test_a_title_is_not_clipped(words):
    chart = Histogram(AGE, (Layer("", (1, 2)),), title=words, width=340.0)
    # a bold letter of 13 pixels takes about 8.5
    lines = re.findall(r'class="mx-title">(.*?)<', chart.to_html())
    assert all(len(unescape(line)) * 8.5 <= 340 for line in lines)


def test_a_chart_is_drawn_again_for_a_phone():
    wide_, small = Histogram(AGE, (Layer("", (1, 2)),)), Histogram(AGE, (), width=300.0)
    assert wide_.within(340.0).drawn().width == 340
    assert small.within(340.0).drawn().width == 300
    assert Stack((wide_, small)).within(340.0).drawn().width == 340
