"""Every chart is a picture that a strict page may show, and says in words what it shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from macex.render.charts import (
    Bar,
    Bars,
    Categories,
    Curve,
    Dot,
    Dumbbell,
    HeatMap,
    Histogram,
    Layer,
    Line,
    Mark,
    Measure,
    Point,
    Scatter,
    Span,
    Way,
    coverage,
)

NAN = float("nan")
HOSTILE = '</svg><script>alert(1)</script>"&'
AGE, SHARE = Measure("age", 20.0, 60.0), Measure("score", 0.0, 1.0)
JOBS = Categories("job", ("clerk", "manager", HOSTILE))
CHARTS = {
    "histogram": Histogram(
        AGE, (Layer("", (4, 9, 2, 1)),), (Mark(33.0, "now"),), (Span(30.0, 50.0, "holds"),)
    ),
    "histogram of categories": Histogram(JOBS, (Layer("no", (4, 9, 2)), Layer(HOSTILE, (1, 2, 3)))),
    "curve": Curve(
        AGE,
        SHARE,
        (Line((20.0, 60.0), (0.1, 0.9), HOSTILE),),
        (0.5,),
        Span(0.5, 1.0),
        (Dot(30, 0.3),),
    ),
    "curve over categories": Curve(JOBS, SHARE, (Line((0.0, 1.0, 2.0), (0.1, 0.9, 0.4)),)),
    "coverage": coverage([3, 5], 8),
    "scatter": Scatter(
        AGE,
        JOBS,
        (Point(30, 0, 0, HOSTILE, "/rows/1", "1"),),
        ("no", "yes"),
        (Dot(30, 0, HOSTILE), Dot(50, 1)),
        ((0, 1),),
    ),
    "bars": Bars((Bar(HOSTILE, 3.0, "3", interval=(2.0, 4.0)), Bar("b", -1.0)), "rows"),
    "bars beside": Bars((Bar("a", 3.0, beside=1.0),), "", ("changes", "SHAP")),
    "dumbbell": Dumbbell(
        (
            Way(AGE, (1, 2, 3), (30.0, 50.0), ("30", "50"), (45.0, 55.0)),
            Way(JOBS, (5, 0, 2), (0.0, 2.0), ("clerk", HOSTILE)),
            Way(AGE, (), (None, 50.0), ("missing", "50")),
        )
    ),
    "heat map": HeatMap(
        AGE,
        JOBS,
        ((0.1, 0.4, NAN), (0.3, 0.8, 0.9)),
        ((30.0, 50.0), (0.0, 1.0, 2.0)),
        low=0.5,
        dots=(Dot(30, 1, HOSTILE),),
        points=(Point(31, 0),),
    ),
}
EMPTY = {
    "histogram": Histogram(Measure.over("x", []), ()),
    "histogram of nothing": Histogram(Categories("x", ()), (Layer("", ()),)),
    "curve": Curve(Measure.over("x", [NAN]), Measure.over("y", []), (Line((), ()),)),
    "scatter": Scatter(Categories("x", ()), Categories("y", ()), ()),
    "bars": Bars(()),
    "dumbbell": Dumbbell(()),
    "heat map": HeatMap(AGE, AGE, (), ((), ())),
    "coverage": coverage([], 0),
}
every_chart = pytest.mark.parametrize("chart", [*CHARTS.values(), *EMPTY.values()])
TAGS = ["svg", "a", "rect", "line", "circle", "text", "title", "polyline", "polygon", "path"]
STYLES = Path(__file__).parents[3] / "src/macex/render/templates/chart.css.j2"


def tree(chart):
    return ET.fromstring(chart.svg())  # noqa: S314 - our own


def classes(chart):
    return {kind for part in tree(chart).iter() for kind in part.get("class", "").split()}


def parts(chart, tag, kind):
    return [part for part in tree(chart).iter(tag) if part.get("class") == kind]


@every_chart
def test_a_chart_is_well_formed_and_says_what_it_shows(chart):
    root = tree(chart)
    assert root.get("aria-label") == str(chart)
    assert root.get("role") == ("group" if list(root.iter("a")) else "img")


@every_chart
def test_a_strict_page_may_show_a_chart(chart):
    for part in tree(chart).iter():
        assert part.tag in TAGS
        assert not [name for name in part.attrib if name == "style" or name.startswith("on")]


@every_chart
def test_no_coordinate_is_unknown(chart):
    assert "nan" not in chart.svg()
    assert "inf" not in chart.svg()


@pytest.mark.parametrize("name", CHARTS)
def test_equal_charts_are_equal_bytes(name):
    chart = CHARTS[name]
    assert chart.svg() == chart.svg() == chart.__html__()
    assert "<style>" in chart.to_html()


def test_every_class_has_a_style():
    known = STYLES.read_text(encoding="utf-8")
    used = {kind for chart in CHARTS.values() for kind in classes(chart)}
    assert [kind for kind in used if f".{kind}" not in known] == []


@pytest.mark.parametrize(("exact", "said"), [(True, "holds"), (False, "was tested")])
def test_a_range_that_was_tested_here_and_there_does_not_hold(exact, said):
    way = Way(AGE, (1.0, 2.0), (20.0, 45.0), ("20", "45"), (42.0, 60.0), exact)
    assert f"age from 20 to 45, which {said} from 42 to 60" in str(Dumbbell((way,)))


def test_a_mark_lies_where_its_value_is():
    (mark,) = parts(CHARTS["histogram"], "circle", "mx-mark-before")
    (axis,) = parts(CHARTS["histogram"], "line", "mx-axis")
    left, right = float(axis.get("x1")), float(axis.get("x2"))
    share = (float(mark.get("cx")) - left) / (right - left)
    assert share == pytest.approx((33 - 20) / (60 - 20), abs=1e-3)


def test_bars_are_as_long_as_their_values():
    chart = Bars((Bar("a", 3.0), Bar("b", 1.5)))
    long, short = (float(bar.get("width")) for bar in parts(chart, "rect", "mx-bar-0"))
    assert max(long, short) / min(long, short) == pytest.approx(2.0, abs=0.01)


def test_cells_on_the_wanted_side_have_their_own_colour():
    assert len(parts(CHARTS["heat map"], "rect", "mx-heat-yes")) == 2 + 1  # one in the legend
    assert len(parts(CHARTS["heat map"], "rect", "mx-heat-no")) == 3 + 1


def test_a_legend_names_what_is_drawn_apart():
    ends = (20.0, 60.0)
    for chart in (
        Curve(AGE, SHARE, (Line(ends, (0.1, 0.9), "one"), Line(ends, (0.2, 0.3), "two"))),
        Histogram(AGE, (Layer("one", (4, 9)), Layer("two", (1, 2)))),
        Scatter(AGE, SHARE, (Point(30, 0.5, 0), Point(40, 0.5, 1)), ("one", "two")),
        Bars((Bar("a", 3.0, beside=1.0),), "", ("one", "two")),
    ):
        texts = {part.text for part in tree(chart).iter("text")}
        assert {"one", "two"} <= texts


def test_points_that_lead_somewhere_are_links():
    (link,) = tree(CHARTS["scatter"]).iter("a")
    assert (link.get("href"), link.get("data-key")) == ("/rows/1", "1")


def test_a_file_stands_alone(tmp_path):
    target = CHARTS["curve"].to_svg(tmp_path / "curve.svg")
    root = ET.parse(target).getroot()  # noqa: S314 - our own
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in target.read_text(encoding="utf-8")


def test_words_of_the_caller_take_the_place_of_its_own():
    assert str(Bars((), title="Plan", words="Nobody needs one")) == "Plan. Nobody needs one"


def written(chart, tmp_path):
    root = ET.parse(chart.to_svg(tmp_path / "chart.svg")).getroot()  # noqa: S314 - our own
    return root, [part.text for part in root.iter() if part.get("class") == "mx-title"]


def test_a_file_shows_the_title_and_a_page_leaves_it_to_its_heading(tmp_path):
    chart = Bars((Bar("a", 3.0),), "rows", title="How many rows there are")
    root, titles = written(chart, tmp_path)
    assert titles == ["How many rows there are"]
    assert "mx-title" in chart.to_html().rsplit("</style>")[-1]
    assert "mx-title" not in chart.svg()
    assert float(root.get("height")) > float(tree(chart).get("height"))


def test_a_long_title_is_broken_into_lines_and_nothing_of_it_is_lost(tmp_path):
    title = "how often the columns of this table change " * 4
    _, lines = written(Bars((Bar("a", 3.0),), title=title), tmp_path)
    assert " ".join(lines) == title.strip()
    assert max(map(len, lines)) * 7.5 <= 560


def test_shares_are_said_in_percent(tmp_path):
    bars = Bars((Bar("a", 0.5, beside=0.125), Bar("b", 0.25)), "share of rows", shares=True)
    drawn = bars.to_svg(tmp_path / "bars.svg").read_text(encoding="utf-8")
    assert ">20 %</text>" in drawn
    assert "0.2<" not in drawn
    assert str(bars).startswith("share of rows: a 50 % (12.5 %), b 25 %")
