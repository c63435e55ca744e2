"""Time series on the page: channels overlaid, changed stretches shaded."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("httpx")
pytest.importorskip("onnxruntime")

from starlette.testclient import TestClient

from macex.errors import DataError
from macex.server import Settings, create_app
from macex.server.projects.series import read_cases
from server.pages.series_project import write_series


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("series") / "motors"
    write_series(folder)
    app = create_app(Settings(state=tmp_path_factory.mktemp("state"), project=folder))
    with TestClient(app, base_url="http://localhost") as made:
        yield made


def worn(client):
    text = client.get("/projects/motors", params={"decision": "worn", "sort": "cf.score"}).text
    return int(re.search(r"/projects/motors/cases/(\d+)", text)[1])


def test_cases_are_listed_filtered_and_sorted(client):
    text = client.get("/projects/motors", params={"sort": "-cf.score"}).text
    assert "40 cases of 3 channels, 48 time points each" in text
    scores = [float(score) for score in re.findall(r"</svg>(\d\.\d\d)</td>", text)]
    assert scores == sorted(scores, reverse=True)
    assert "<td>well</td>" not in client.get("/projects/motors?decision=worn").text


def test_what_changed_is_drawn_over_the_case_and_shaded(client):
    text = client.get(f"/projects/motors/cases/{worn(client)}").text
    answers = text[text.index('id="answers"') : text.index('id="keep-title"')]
    assert "then well" in answers
    assert "<b>bearing heat</b>" in answers
    drawn = re.findall(r"<figcaption>.*?as in case", answers)
    assert answers.count('class="mx-stretch"') == len(drawn) >= 1
    assert answers.count('class="mx-new"') >= 1


def test_where_it_comes_from_and_what_is_usual_are_drawn_too(client):
    text = client.get(f"/projects/motors/cases/{worn(client)}").text
    answers = text[text.index('id="answers"') : text.index('id="keep-title"')]
    assert 'class="mx-donor"' in answers
    assert 'class="mx-band"' in answers
    assert "<span>11.75 s</span>" in answers
    assert re.search(r"<span>-?[\d.]+ °C</span>", answers)
    assert re.search(r"<title>[\d.]+ s: -?[\d.]+ → -?[\d.]+</title>", answers)
    case = text[text.index('id="case-title"') :]
    assert "<span>11.75 s</span>" in case
    assert 'aria-label="bearing heat may"' in text


def test_probabilities_of_all_classes_are_told(client):
    at = worn(client)
    (told,) = client.get(f"/projects/motors/cases/{at}/answers.json?n=1").json()["explanations"]
    before, after = told["probabilities"], told["counterfactuals"][0]["probabilities"]
    assert before["worn"] > 0.5 > after["worn"]
    assert sum(after.values()) == pytest.approx(1, abs=1e-5)
    text = client.get(f"/projects/motors/cases/{at}").text
    assert f"well {before['well']:.2f} → {after['well']:.2f}" in text


def test_fewer_answers_than_were_asked_for_say_why(client):
    found = client.get(f"/projects/motors/cases/{worn(client)}/answers.json?n=3").json()
    (told,) = found["explanations"]
    assert len(told["counterfactuals"]) < 3
    assert told["fewer"] == "tried"
    text = client.get(f"/projects/motors/cases/{worn(client)}?n=3").text
    assert "of 3 requested answers. No other combination that was tried suffices." in text


def test_a_channel_that_stays_is_not_changed(client):
    text = client.get(f"/projects/motors/cases/{worn(client)}", params={"may.heat": "keep"}).text
    assert "No answer" in text


def changes(client, **limits):
    answer = client.get(f"/projects/motors/cases/{worn(client)}/answers.json", params=limits)
    (told,) = answer.json()["explanations"]
    return [change for one in told["counterfactuals"] for change in one["changes"]]


def test_a_channel_stays_within_values_at_some_times(client):
    limits = {"low.heat": "-0.25", "since.heat": "2.5", "until.heat": "4"}
    for free, change in zip(changes(client), changes(client, **limits), strict=False):
        times = range(change["start"], change["stop"])
        inside = [value for at, value in zip(times, change["after"], strict=True) if 10 <= at <= 16]
        assert all(value >= -0.25 for value in inside)
        assert free["channel"] == change["channel"] == "heat"
    assert min(min(change["after"]) for change in changes(client)) < -0.25
    assert min(min(change["after"]) for change in changes(client, **{"low.heat": "-0.25"})) >= -0.25


def test_a_channel_goes_only_one_way(client):
    for change in changes(client, **{"may.heat": "down"}):
        assert (np.array(change["after"]) <= np.array(change["before"])).all()
    text = client.get(f"/projects/motors/cases/{worn(client)}", params={"may.heat": "up"}).text
    assert "No answer" in text
    assert "only up" in text


def test_part_of_a_channel_stays(client):
    for change in changes(client, **{"may.heat": "keep", "until.heat": "2.25"}):
        assert change["start"] >= 10


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        ({"low.heat": "warm"}, "takes numbers, not &#39;warm&#39;"),
        ({"since.heat": "1.1", "may.heat": "up"}, "has no time point &#39;1.1&#39;"),
        ({"since.heat": "3", "until.heat": "2", "may.heat": "up"}, "begins at 3 after 2"),
        ({"may.heat": "sideways"}, "is one of"),
        ({"low.heat": "3", "high.heat": "1"}, "low &lt;= high must hold"),
    ],
)
def test_what_cannot_be_read_is_named(client, limits, fault):
    text = client.get(f"/projects/motors/cases/{worn(client)}", params=limits).text
    assert fault in text


def test_answers_are_saved_as_json(client):
    answer = client.get(f"/projects/motors/cases/{worn(client)}/answers.json")
    assert answer.json()["explanations"][0]["status"] == "found"


def test_what_is_asked_of_rows_is_refused(client):
    assert client.get("/api/v1/projects/motors/rows").status_code == 422
    assert "holds time series" in client.get("/projects/motors/rows/0").text
    assert client.get("/projects/motors/cases/99").status_code == 422


@pytest.mark.parametrize("held", [{"Y": np.zeros(3)}, {"X": np.zeros((2, 2))}, {"X": [object()]}])
def test_a_file_that_holds_no_cases_is_named(tmp_path, held):
    np.savez(tmp_path / "cases.npz", **{name: np.array(array) for name, array in held.items()})
    with pytest.raises(DataError, match=r"cases\.npz"):
        read_cases(tmp_path / "cases.npz")
