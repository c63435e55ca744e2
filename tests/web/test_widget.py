"""The widget in a real browser: its module as notebooks load it, and a widget of this process."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from macex import Explainer
from web.looking import FAINT, OVERFLOW, looks, opened, photographed
from web.server.accessible import axe_findings

pytest.importorskip("anywidget")

DATA = pd.DataFrame(
    {
        "hours": range(20, 70),
        "debt": np.linspace(1, 5, 50).round(1),
        "job": ["cook", "nurse", "driver", "clerk", "teacher"] * 10,
        "city": [f"city {at:02d}" for at in range(50)],
        "owner": [0, 1] * 25,
    }
)
SHOWN = ("form", "typed", "locked", "curve", "sought", "asked", "told", "verdicts", "answers")
SHOWN = (*SHOWN, "applied", "drawn", "offered")

# What anywidget hands to `render`: values, and events of those that change. What is saved goes to
# the kernel, which is the widget of this process, and what it answers comes back.
PAGE = """
<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title>
<meta name="color-scheme" content="light dark">
<style>%(css)s body { background: Canvas; color: CanvasText }</style></head><body><main>
<h1>A notebook</h1><div id="cell"></div></main>
<script type="module">
const esm = %(esm)s;
const held = %(state)s;
const heard = {};
let changed = {};
const emit = (name) => (heard[`change:${name}`] ?? []).slice().forEach((act) => act());
const take = (state) => {
  const text = JSON.stringify;
  const other = Object.keys(state).filter((name) => text(state[name]) !== text(held[name]));
  Object.assign(held, state);
  other.forEach(emit);
};
const model = {
  get: (name) => held[name],
  set(name, value) { held[name] = changed[name] = value; emit(name); },
  on: (name, act) => (heard[name] ??= []).push(act),
  off: (name, act) => (heard[name] = (heard[name] ?? []).filter((one) => one !== act)),
  save_changes() { const sent = changed; changed = {}; window.kernel(sent).then(take); },
};
window.take = take;
const module = await import("data:text/javascript;charset=utf-8," + encodeURIComponent(esm));
window.end = await module.default.render({ model, el: document.getElementById("cell") });
window.heard = heard;
document.body.dataset.ready = "yes";
</script></body></html>
"""


@pytest.fixture(scope="module")
def explainer():
    def model(rows):
        nurse = 4.0 * (rows["job"] == "nurse")
        return 1 / (1 + np.exp((46.5 - rows["hours"] + 2 * rows["debt"] - nurse) / 3))

    return Explainer(model, DATA, classes=("refused", "granted"), constraints={"fixed": ["owner"]})


@pytest.fixture
def widget(explainer):
    return explainer.widget(DATA.iloc[[12]], n=2)


@pytest.fixture
def page(browser, widget):
    asked = []

    def kernel(sent):
        asked.append(sent)
        widget.set_state(sent)
        return {name: getattr(widget, name) for name in SHOWN if name not in sent}

    state = {name: getattr(widget, name) for name in SHOWN}
    with opened(browser, "<p></p>") as page:
        page.expose_function("kernel", kernel)
        told = {"css": widget._css, "esm": json.dumps(widget._esm), "state": json.dumps(state)}
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_content((PAGE % told).replace("</script></body>", "\n</script></body>"))
        page.wait_for_selector("[data-ready]")
        page.kernel = asked
        page.set_default_timeout(30_000)
        yield page
        assert errors == []


def tile(page):
    return page.locator(".mx-verdict").nth(1)


def test_the_score_follows_a_slider_that_is_dragged(page, widget):
    slider = page.get_by_label("hours, slider")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in range(26, 96, 3):
        page.mouse.move(box["x"] + box["width"] * share / 100, box["y"] + box["height"] / 2)
    page.mouse.up()
    expect(tile(page)).to_contain_text("granted")
    expect(tile(page)).to_contain_text("reaches the goal")
    last = page.get_by_label("hours", exact=True).input_value()
    assert int(last) > 60
    assert widget.row["hours"].tolist() == [int(last)]
    assert 2 <= len(page.kernel) <= 24  # one question at a time, the last one always


def test_what_python_sets_is_shown(page, widget):
    widget.typed = {"hours": 60, "job": "nurse"}
    state = {name: getattr(widget, name) for name in SHOWN}
    page.evaluate("state => window.take(state)", state)
    assert page.get_by_label("hours", exact=True).input_value() == "60"
    assert page.get_by_label("job", exact=True).input_value() == "nurse"
    expect(page.locator(".mx-edited")).to_have_count(2)
    expect(tile(page)).to_contain_text("2 changes")


def test_locks_answers_undo_and_reset(page, widget):
    page.get_by_role("button", name="Keep hours as it is").click()
    lock = page.get_by_role("button", name="Keep hours as it is")
    expect(lock).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-part=answers]")).not_to_have_attribute("aria-busy", "true")
    assert widget.locked == ["hours"]
    assert all(
        "hours" not in {change.column for change in one.changes}
        for one in widget.found[0].counterfactuals
    )
    lock.click()
    expect(lock).to_have_attribute("aria-pressed", "false")
    apply = page.get_by_role("button", name="Apply: ").first
    expect(apply).to_be_visible()
    apply.click()
    expect(tile(page)).to_contain_text("reaches the goal")
    applied = dict(widget.typed)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".mx-edited")).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.get_by_role("button", name="Redo").click()
    expect(page.locator(".mx-edited")).to_have_count(len(applied))
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".mx-edited")).to_have_count(0)
    assert widget.typed == {}
    expect(page.get_by_role("button", name="Keep owner as it is")).to_be_disabled()


def test_switches_lists_and_curves(page, widget):
    page.locator("[data-cell=owner] label").filter(has_text="1").click()
    expect(page.locator("[data-cell=owner]")).to_have_class("mx-edited")
    page.get_by_role("button", name="Score over hours").click()
    expect(page.locator(".mx-curve-line svg")).to_be_visible()
    city = page.get_by_label("city", exact=True)
    city.fill("city 4")
    expect(page.locator("[data-part=verdicts]")).to_contain_text("has no value 'city 4'")
    page.wait_for_function("document.querySelectorAll('datalist option').length === 10")
    city.fill("city 41")
    expect(tile(page)).to_contain_text("2 changes")
    page.get_by_role("button", name="Score over hours").click()
    expect(page.locator(".mx-curve-line")).to_have_count(0)


def test_it_fits_can_be_read_and_used_everywhere(page, tmp_path):
    page.get_by_role("button", name="Score over hours").click()
    expect(page.locator(".mx-curve-line svg")).to_be_visible()
    page.get_by_label("debt", exact=True).fill("2.2")
    expect(tile(page)).to_contain_text("1 change")
    for look in looks(page):
        photographed(page, f"widget-{look}", tmp_path)
        assert page.evaluate(OVERFLOW) <= 0
        assert page.evaluate(FAINT) == []
        assert axe_findings(page) == []
    assert page.asked == []


def test_a_view_that_is_closed_listens_no_more(page):
    page.evaluate("window.end()")
    assert page.evaluate("Object.values(window.heard).every((acts) => acts.length === 0)")
