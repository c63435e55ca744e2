"""Bodies meant to do harm: each is refused with a sentence, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import threading
from contextlib import contextmanager

import httpx
import pytest

from macex.server import bodies

JSON = {"content-type": "application/json"}
MANY = 590_000
ASK = "/projects/loans/explain"
WRONG, LARGE, MEDIA, BAD = (422,), (413,), (415,), (400,)


def listed(text: str, count: int = MANY) -> str:
    return "[" + ",".join([text] * count) + "]"


def rows(cells: str) -> str:
    return f'{{"rows": [{cells}]}}'


def wish(part: str, said: str) -> str:
    return f'{{"places": [0], "constraints": {{"{part}": {said}}}}}'


def bomb(size: int) -> bytes:
    return gzip.compress(b'{"rows": [' + b" " * size + b"]}")


NAME = '"x"'
OWN = '{"income": 30, "debt": 40.5, "age": 33, "job": "none"}'
WIDE = "{" + ",".join(f'"c{at}": 1' for at in range(100_000)) + "}"
HOSTILE = {
    "goals without number": (ASK, f'{{"places": [0], "want": {listed("{}")}}}', LARGE),
    "wrong goals": (ASK, f'{{"places": [0], "want": {listed("{}", 90_000)}}}', WRONG),
    "goals of no kind": (ASK, f'{{"places": [0], "want": {listed("[0]", 60_000)}}}', WRONG),
    "numbers for goals": (ASK, f'{{"places": [0], "want": {listed("1", 400_000)}}}', WRONG),
    "labels without number": (
        ASK,
        f'{{"places": [0], "want": {{"kind": "any_of", "labels": {listed("1", 400_000)}}}}}',
        WRONG,
    ),
    "constraints without number": (
        ASK,
        f'{{"places": [0], "constraints": {listed("{}", 90_000)}}}',
        WRONG,
    ),
    "columns that stay without number": (
        ASK,
        f'{{"places": [0], "constraints": {{"fixed": {listed(NAME, 400_000)}}}}}',
        WRONG,
    ),
    "rows without number": (ASK, f'{{"rows": {listed("{}", 90_000)}}}', WRONG),
    "rows that are lists": (ASK, f'{{"rows": {listed("[]", 90_000)}}}', WRONG),
    "places without number": (ASK, f'{{"places": {listed("0", 400_000)}}}', WRONG),
    "places that are objects": (ASK, f'{{"places": {listed("{}", 90_000)}}}', WRONG),
    "a row of many columns": (ASK, rows(WIDE), WRONG),
    "a row of objects": (
        ASK,
        rows("{" + ",".join(f'"c{at}": {{}}' for at in range(4_000)) + "}"),
        WRONG,
    ),
    "many parts that there are not": (ASK, WIDE, WRONG),
    "a goal of many parts": (ASK, f'{{"want": {{"kind": "band", {WIDE[1:-1]}}}}}', WRONG),
    "lists in lists": (ASK, "[" * 100_000, WRONG),
    "objects in objects": (ASK, '{"a":' * 20_000, WRONG),
    "lists beside lists": (ASK, listed("[]"), LARGE),
    "a number of many digits": (ASK, rows('{"income": ' + "9" * 100_000 + "}"), WRONG),
    "an exponent without end": (ASK, rows(OWN.replace("30", "1e999999")), (200, 422)),
    "a name of megabytes": (ASK, rows(f'{{"{"x" * 5_000_000}": 1}}'), WRONG),
    "text of megabytes": (ASK, rows(OWN.replace("none", "x" * 5_000_000)), WRONG),
    "half of a letter": (ASK, rows(OWN.replace("none", "\\ud800")), WRONG),
    "a rule of megabytes": (
        ASK,
        f'{{"places": [0], "constraints": {{"rules": ["{"income + " * 400_000}1 > 0"]}}}}',
        WRONG,
    ),
    "a goal of megabytes": (ASK, f'{{"places": [0], "want": "{"at_least(" * 500_000}"}}', WRONG),
    "a rule in brackets": (
        ASK,
        f'{{"places": [0], "constraints": {{"rules": ["{"(" * 50_000}"]}}}}',
        WRONG,
    ),
    "groups without number": (ASK, wish("groups", listed('["income", "debt"]', 20_000)), WRONG),
    "values without number": (ASK, wish("allowed", f'{{"income": {listed("1", 400_000)}}}'), WRONG),
    "rules without number": (ASK, wish("rules", listed('"income > 0"', 90_000)), WRONG),
    "long rules, each another one": (
        ASK,
        wish("rules", json.dumps([f"income > {at}" + " or age > 1" * 150 for at in range(1_000)])),
        WRONG,
    ),
    "constraints in lists in lists": (ASK, wish("rules", "[" * 150 + "]" * 150), WRONG),
    "a number that is none": (ASK, rows(OWN.replace("30", "NaN")), WRONG),
    "a number without end": (ASK, rows(OWN.replace("30", "-Infinity")), WRONG),
    "a goal that is no number": (ASK, '{"places": [0], "want": NaN}', WRONG),
    "one row twice, by the same name": (ASK, f'{{"rows": [{OWN}], "rows": [{{}}]}}', WRONG),
    "a name in another form": (ASK, rows(OWN.replace("job", "jo\u0301b")), WRONG),
    "nine megabytes": (ASK, rows(OWN) + " " * 9_000_000, LARGE),
    "a state without end": (
        "/projects/loans/views",
        f'{{"name": "x", "state": {WIDE}}}',
        WRONG,
    ),
    "a state of states": (
        "/projects/loans/views",
        f'{{"name": "x", "state": {{"a": {listed("{}", 90_000)}}}}}',
        WRONG,
    ),
    "variants without number": (
        "/projects/loans/whatif",
        f'{{"place": 0, "variants": {listed("{}", 90_000)}}}',
        WRONG,
    ),
    "no JSON": (ASK, "\0" * 1_000_000, WRONG),
    "JSON by another name": (ASK, None, MEDIA),
    "a bomb": (ASK, bomb(400_000_000), LARGE),
    "half a bomb": (ASK, bomb(100_000)[:-20], BAD),
    "a bomb by another name": (ASK, b"\x28\xb5\x2f\xfd" * 1000, MEDIA),
}
PACKED = {"a bomb": "gzip", "half a bomb": "gzip", "a bomb by another name": "zstd"}


@contextmanager
def pulse(url):
    """Asks for the server's health again and again, and once more in the end: what it answered."""
    said, stop = [], threading.Event()

    def beat():
        with httpx.Client(timeout=30) as client:
            while not stop.wait(0.01) or not said:
                said.append(client.get(f"{url}/api/v1/health").status_code)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield said
    finally:
        stop.set()
        thread.join(60)


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_body_is_refused_with_a_sentence(served, http, name):
    path, body, statuses = HOSTILE[name]
    media = JSON if body is not None else {"content-type": "text/plain"}
    headers = media | ({"content-encoding": PACKED[name]} if name in PACKED else {})
    http.get("/projects/loans")  # opened before
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pulse(served.url) as healthy:
        said = http.post(path, content=body or rows(OWN), headers=headers)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert said.status_code in statuses
    assert set(healthy) == {200}
    assert grown < 400  # MB
    assert len(said.content) < 20_000
    if said.status_code >= 400:
        told = said.json()
        assert told["detail"]
        assert told["code"]
        assert told["request_id"] == said.headers["x-request-id"]
        assert len(told["errors"]) <= 20


def test_a_body_may_be_packed(http, row):
    headers = {**JSON, "content-encoding": "gzip"}
    body = gzip.compress(json.dumps({"rows": [row]}).encode())
    assert http.post("/projects/loans/predict", content=body, headers=headers).status_code == 200


def test_no_body_is_read_on_the_event_loop(http, row, monkeypatch):
    """All others would wait there until it is read."""
    on_loop = {}

    def watched(name, read):
        def reading(*given):
            on_loop[name] = asyncio._get_running_loop() is not None
            return read(*given)

        return reading

    for name in ("unpacked", "refuse_crowded", "valued"):
        monkeypatch.setattr(bodies, name, watched(name, getattr(bodies, name)))
    for path in ("/projects/loans/predict", ASK, "/projects/loans/jobs"):
        on_loop.clear()
        assert http.post(path, json={"rows": [row]}).status_code in (200, 202)
        assert on_loop == {"unpacked": False, "refuse_crowded": False, "valued": False}


def test_as_many_rows_as_are_said_are_read(http, row):
    most = http.get("/health").json()["limits"]["body_rows"]
    said = http.post("/projects/loans/predict", json={"rows": [row] * most})
    assert said.status_code == 200
    assert len(said.json()["predictions"]) == most
    assert (
        http.post("/projects/loans/predict", json={"rows": [row] * (most + 1)}).status_code == 422
    )


@pytest.mark.parametrize(
    ("path", "media"),
    [
        (ASK, "text/plain"),
        (ASK, "application/x-www-form-urlencoded"),
        (ASK, ""),
        ("/inspect", "application/json"),
        ("/projects", "text/csv"),
    ],
)
def test_another_content_type_is_a_415(http, path, media):
    headers = {"content-type": media} if media else {}
    said = http.post(path, content=b"{}", headers=headers)
    assert said.status_code == 415
    assert said.json()["code"] == "wrong_content_type"
    assert said.headers["content-type"] == "application/problem+json"


def test_a_form_of_a_page_is_a_form(served):
    said = httpx.post(f"{served.url}/login", json={"key": "x"}, headers={"accept": "text/html"})
    assert said.status_code == 415
