"""Causes on pages and over HTTP: what follows is said, drawn and scored."""

from __future__ import annotations

import json
from types import SimpleNamespace

import httpx
import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.server import Settings
from macex.server.api.explanations import _stepped, _tried
from macex.server.api.shapes import StepsRequest, WhatIfRequest
from macex.server.local_page import LiveProject
from macex.server.questions import CallOptions, answered, check_reach, read_ask
from macex.server.security.gate import Caller

HOURS = np.arange(20, 60)
ROWS = pd.DataFrame({"hours": HOURS, "pay": 10.0 * HOURS, "age": 20 + HOURS % 7})
STATED = {"edges": {"pay": ["hours"]}, "mechanisms": {"pay": "10 * hours + u"}}


def model(rows):
    return 1 / (1 + np.exp((445 - rows["pay"]) / 10))


def explainer():
    causes, names = mx.Causes(**STATED), {"pay": "the pay"}
    return mx.Explainer(model, ROWS, classes=("no", "yes"), causes=causes, names=names)


@pytest.fixture(scope="module")
def client():
    page = explainer().show(browser=False)
    base = page.address.partition("/login")[0]
    with httpx.Client(follow_redirects=True, timeout=60, base_url=base) as one:
        one.get(page.address)
        yield one
    page.close()


def test_a_slider_moves_what_follows(client):
    verdicts = client.get("/projects/explainer/rows/20?a.hours=50").text
    assert 'data-follows="pay"' in verdicts
    assert "the pay follows</span> 400 → <mark>500</mark>" in verdicts
    assert 'class="done"><title>hours' in verdicts
    assert 'class="follows"><title>the pay' in verdicts
    still = client.get("/projects/explainer/rows/20").text
    assert "data-follows" not in still
    assert 'class="follows"' not in still


def test_curves_and_maps_follow(client):
    page = client.get("/projects/explainer/rows/20?curve=hours&mapx=hours&mapy=age")
    assert page.status_code == 200
    assert "there is no curve" not in page.text


def test_http_says_what_follows():
    asked = WhatIfRequest(place=20, variants=[{"hours": 50}, {"hours": 50, "pay": 400.5}])
    said = json.loads(_tried(asked, LiveProject(explainer())).body)["variants"]
    assert said[0]["consequences"] == [{"column": "pay", "before": 400.0, "after": 500.0}]
    assert said[0]["label"] == "yes"
    assert (said[1]["consequences"], said[1]["label"]) == ([], "no")


def test_a_reach_is_for_projects_with_causes():
    known = LiveProject(explainer())
    check_reach(known, CallOptions(reach=0.9))
    asked = read_ask(known, CallOptions(reach=0.9), [ROWS.iloc[20].to_dict()], "yes", None, {})
    (answered_,) = answered(known, [asked])
    assert answered_[0].status == "found"
    bare = LiveProject(mx.Explainer(model, ROWS, classes=("no", "yes")))
    check_reach(bare, CallOptions())
    with pytest.raises(mx.OptionError, match="needs causes"):
        read_ask(bare, CallOptions(reach=0.9), [ROWS.iloc[20].to_dict()], "yes", None, {})


BOUNDS = {"only": ["hours", "age"], "ranges": {"hours": (20, 43)}}
BOTH = {"causes": mx.Causes(**STATED), "constraints": BOUNDS}
WAY = {"place": 20, "want": "yes", "costs": {"hours": "2 months", "age": 1}}


def paid(rows):
    return 1 / (1 + np.exp((481 - rows["pay"] - 2 * rows["age"]) / 10))


def test_http_tells_the_steps_to_an_answer():
    live = LiveProject(mx.Explainer(paid, ROWS, classes=("no", "yes"), **BOTH))
    said = _way(live, StepsRequest(**WAY))
    assert said["status"] == "found"
    first = said["steps"][0]
    assert {move["column"] for step in said["steps"] for move in step["moves"]} <= {"hours", "age"}
    assert any(step["follows"] and step["follows"][0]["column"] == "pay" for step in said["steps"])
    assert said["takes"].get("months") == 2
    assert said["steps"][-1]["label"] == "yes"
    assert first["score"] > said["score"]
    over = _way(live, StepsRequest(**WAY, rank=20))
    assert (over["status"], over["steps"]) == ("found", [])
    with pytest.raises(mx.OptionError, match="did you mean 'hours'"):
        _way(live, StepsRequest(**WAY | {"costs": {"hour": 1}}))


def _way(live, asked):
    return json.loads(
        _stepped(asked, live, SimpleNamespace(settings=Settings()), Caller("anyone", ())).body
    )


def test_the_way_on_a_page_says_what_follows():
    page = mx.Explainer(paid, ROWS, classes=("no", "yes"), **BOTH).show(browser=False)
    with httpx.Client(follow_redirects=True, timeout=60) as one:
        one.get(page.address)
        base = page.address.partition("/login")[0]
        text = one.get(f"{base}/projects/explainer/rows/20?want=yes").text
    page.close()
    way = text[text.index("The way there") : text.index("</ol>")]
    assert "so that pay →" in way
