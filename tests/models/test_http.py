"""A real server that fails, lags and answers nonsense, and what is made of it."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.models.http import Endpoint

ROWS = pd.DataFrame(
    {
        "x": [1, 5, 9] * 20,
        "word": ["a", "b", None] * 20,
        "day": pd.to_datetime(["2020-01-01", "2021-02-03", "2022-01-01"] * 20),
    }
)


class Server:
    """Scores x / 10, after what `moods` says for the next requests."""

    def __init__(self) -> None:
        self.moods: list[str] = []
        self.seen: list[list[dict]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                mood = outer.moods.pop(0) if outer.moods else "well"
                outer.answer(self, body, mood)

            def log_message(self, *_) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/score"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, to: BaseHTTPRequestHandler, body: dict, mood: str) -> None:
        if mood == "slow":
            time.sleep(0.5)
        if mood in ("500", "429", "404"):
            to.send_response(int(mood))
            if mood == "429":
                to.send_header("Retry-After", "0")
            to.end_headers()
            to.wfile.write(b"out of order")
            return
        self.seen.append(body["rows"])
        scores = [row["x"] / 10 for row in body["rows"]]
        said = {
            "short": json.dumps(scores[:-1]),
            "nonsense": "<html>",
            "nothing": json.dumps({"error": "no model"}),
            "bare": json.dumps(scores),
            "pairs": json.dumps([[1 - score, score] for score in scores]),
        }.get(mood, json.dumps({"scores": scores}))
        to.send_response(200)
        to.end_headers()
        try:
            to.wfile.write(said.encode())
        except BrokenPipeError:
            return


@pytest.fixture
def server():
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


def endpoint(server: Server, **options) -> Endpoint:
    return Endpoint(server.url, **{"wait_s": 0.01, **options})


def test_rows_travel_as_json_in_batches(server):
    scores = endpoint(server, batch=25)(ROWS)
    assert np.allclose(scores, ROWS["x"] / 10)
    assert [len(rows) for rows in server.seen] == [25, 25, 10]
    assert server.seen[0][2] == {"x": 9, "word": None, "day": "2022-01-01T00:00:00"}


@pytest.mark.parametrize("mood", ["bare", "pairs"])
def test_scores_may_stand_alone_or_in_columns(server, mood):
    server.moods = [mood]
    scores = endpoint(server)(ROWS)
    assert np.allclose(scores if scores.ndim == 1 else scores[:, 1], ROWS["x"] / 10)


@pytest.mark.parametrize("moods", [["500", "500"], ["429"], ["500", "429", "500"]])
def test_what_may_pass_is_tried_again(server, moods):
    server.moods = list(moods)
    asked = endpoint(server)
    assert len(asked(ROWS)) == len(ROWS)
    assert asked.requests == len(moods) + 1


def test_a_slow_answer_is_given_up_and_asked_for_again(server):
    server.moods = ["slow"]
    assert len(endpoint(server, timeout_s=0.2)(ROWS)) == len(ROWS)


def test_what_does_not_pass_is_an_error_that_says_so(server):
    server.moods = ["500"] * 9
    with pytest.raises(
        mx.ModelError, match="failed 3 times, at last with status 500: out of order"
    ):
        endpoint(server, retries=2)(ROWS)


def test_nobody_there_is_an_error(server):
    with pytest.raises(mx.ModelError, match="failed 2 times"):
        Endpoint("http://127.0.0.1:9", retries=1, wait_s=0.01)(ROWS)


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        ("404", "refused the rows with status 404"),
        ("short", r"shape \(59,\) for 60 rows"),
        ("nonsense", "no JSON"),
        ("nothing", "no scores were found"),
    ],
)
def test_an_answer_that_is_none_is_not_asked_for_again(server, mood, said):
    server.moods = [mood]
    asked = endpoint(server)
    with pytest.raises(mx.ModelError, match=said):
        asked(ROWS)
    assert asked.requests == 1


def test_the_budget_of_rows_holds(server):
    asked = endpoint(server, max_rows=100)
    asked(ROWS)
    with pytest.raises(mx.ModelError, match="60 are spent and 60 more are needed"):
        asked(ROWS)
    assert sum(map(len, server.seen)) == 60


def test_an_endpoint_is_explained_like_any_model(server):
    asked = endpoint(server, classes=("no", "yes"))
    explainer = mx.Explainer(asked, ROWS)
    server.moods = ["500", "429"]
    found = explainer.explain(ROWS.head(2), want="yes")
    assert [e.counterfactuals[0].row["x"].iloc[0] > 5 for e in found] == [True, True]


def test_a_server_that_dies_gives_rows_a_reason(server):
    explainer = mx.Explainer(endpoint(server, classes=("no", "yes"), retries=1), ROWS)
    server.moods = ["500"] * 99
    found = explainer.explain(ROWS.head(2), on_error="keep")
    assert all("status 500" in explanation.reason for explanation in found)
    with pytest.raises(mx.ModelError, match="status 500"):
        explainer.explain(ROWS.head(2))


@pytest.mark.parametrize("options", [{"url": "file:///etc/passwd"}, {"batch": 0}, {"retries": -1}])
def test_wrong_options_are_refused(options):
    with pytest.raises(mx.OptionError):
        Endpoint(**{"url": "http://localhost", **options})
