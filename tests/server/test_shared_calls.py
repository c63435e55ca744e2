"""Requests that are answered together are answered as if each were alone."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from macex.errors import ConstraintError
from macex.server.questions import CallOptions, read_ask
from macex.server.turns import Sharing


@pytest.fixture(scope="module")
def project(served):
    return served.server.projects["loans"].open()


def ask(project, place, want=None, constraints=None, n=1):
    row = project.table.cells(place)
    return read_ask(project, CallOptions(n=n), [row], want, constraints, {})


def together(project, asks, **options):
    """All at once; the answers, or errors, and how many requests each call answered."""
    calls: list[int] = []

    async def run():
        sharing = Sharing(0.02, report=lambda requests, _rows: calls.append(requests), **options)
        found = await asyncio.gather(
            *(sharing.explain(project, one) for one in asks), return_exceptions=True
        )
        sharing.close()
        return found

    return asyncio.run(run()), calls


def test_shared_answers_are_the_bytes_of_lone_ones(project):
    wants = [None, "granted", "refused"]
    limits = [None, {"fixed": ["income"]}, {"max_changes": 1}]
    asks = [ask(project, at, wants[at % 3], limits[at // 3 % 3]) for at in range(30)]
    shared, calls = together(project, asks)
    lone, _ = together(project, asks, together=False)
    assert calls == [30]
    for one, other in zip(shared, lone, strict=True):
        assert one.to_json(canonical=True) == other.to_json(canonical=True)


def test_each_request_gets_its_own_rows(project):
    asks = [ask(project, at) for at in range(20)]
    found, _ = together(project, asks)
    for at, one in enumerate(found):
        assert len(one) == 1
        assert one[0].source.cells() == project.table.cells(at)
        assert one[0].source.id == 0


def test_other_options_make_another_call(project):
    found, calls = together(project, [ask(project, at, n=1 + at % 2) for at in range(10)])
    assert sorted(calls) == [5, 5]
    assert all(len(one[0].counterfactuals) <= 1 + at % 2 for at, one in enumerate(found))


def test_a_wrong_question_spoils_nobody_else_s(project):
    asks = [ask(project, 1), ask(project, 2, constraints={"fixed": ["nothing"]}), ask(project, 3)]
    first, wrong, last = together(project, asks)[0]
    assert isinstance(wrong, ConstraintError)
    assert "nothing" in str(wrong)
    assert first[0].status == last[0].status == "found"


def test_without_sharing_every_request_is_a_call(project):
    _, calls = together(project, [ask(project, at) for at in range(5)], together=False)
    assert calls == [1] * 5


def test_one_that_went_away_holds_up_nobody(project):
    async def run():
        sharing = Sharing(0.05)
        gone = asyncio.create_task(sharing.explain(project, ask(project, 1)))
        stays = asyncio.create_task(sharing.explain(project, ask(project, 2)))
        await asyncio.sleep(0.01)
        gone.cancel()
        found = await stays
        sharing.close()
        return found

    assert asyncio.run(run())[0].status == "found"


def test_fifty_clients_lose_no_answer(served, project):
    url = f"{served.url}/api/v1/projects/loans/explain"

    def one(place):
        with httpx.Client(timeout=120) as client:
            return [client.post(url, json={"places": [place + turn]}).json() for turn in range(3)]

    with ThreadPoolExecutor(50) as pool:
        said = list(pool.map(one, range(50)))
    for place, answers in enumerate(said):
        for turn, document in enumerate(answers):
            assert document["explanations"][0]["query"] == project.table.cells(place + turn)
    counted = served.server.metrics.text().decode()
    lines = dict(line.rsplit(" ", 1) for line in counted.splitlines() if not line.startswith("#"))
    requests = float(lines["macex_shared_requests_sum"])
    assert float(lines["macex_shared_requests_count"]) < requests
    assert json.dumps(said)
