"""Causes in a browser: the graph is drawn, and what follows is marked while a slider is held."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import macex as mx
from web.server.conftest import visiting

HOURS = np.arange(20, 60)
ROWS = pd.DataFrame(
    {"hours": HOURS, "pay": 10.0 * HOURS, "saved": 5.0 * HOURS, "age": 30 + HOURS % 7}
)
CAUSES = mx.Causes(mechanisms={"pay": "10 * hours + u", "saved": "0.5 * pay + u"})


def model(rows):
    return 1 / (1 + np.exp((445 - rows["pay"]) / 10))


@pytest.fixture(scope="module")
def opened():
    explainer = mx.Explainer(model, ROWS, classes=("no", "yes"), causes=CAUSES)
    local = explainer.show(browser=False)
    yield local.address
    local.close()


def test_what_follows_is_marked_while_a_slider_is_held(browser, opened):
    site = opened.partition("/login")[0]
    with visiting(browser, site) as page:
        page.goto(opened)
        page.goto(f"{site}/projects/explainer/rows/20")
        graph = page.locator("svg.macex-causes")
        expect(graph).to_have_attribute("aria-label", "hours causes pay; pay causes saved")
        expect(graph.locator("g.node")).to_have_count(3)
        drawn, bar = graph.bounding_box(), page.locator("#verdicts").bounding_box()
        assert drawn["width"] > 0.8 * bar["width"]
        assert drawn["x"] + drawn["width"] <= bar["x"] + bar["width"]  # all of it is seen
        expect(page.locator(".mx-follows")).to_have_count(0)
        slider = page.get_by_label("hours, A, slider")
        slider.focus()
        box = slider.bounding_box()
        across, middle = box["width"] - 4, box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, middle)
        page.mouse.down()
        for step in range(30, 60):
            page.mouse.move(box["x"] + across * step / 59, middle)
            page.wait_for_timeout(30)
        expect(graph.locator("g.done title")).to_have_text("hours")
        expect(graph.locator("g.follows title")).to_have_text(["pay", "saved"])
        now = 10.0 * int(page.get_by_label("hours, A", exact=True).input_value())
        expect(page.locator(".mx-follows mark")).to_have_text([f"{now:g}", f"{now / 2:g}"])
        page.mouse.up()
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".mx-follows")).to_have_count(0)
        expect(graph.locator("g.node")).to_have_count(3)
