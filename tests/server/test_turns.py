"""A project takes few threads at a time, and never another project's."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from macex.errors import UnavailableError
from macex.server import turns
from macex.server.projects.project import Project
from macex.server.turns import AT_ONCE, Turns
from server.at_work import AtWork


def project(name):
    return Project(name, name, lambda: pytest.fail("it is not opened"))


def test_a_project_has_so_many_threads_at_once():
    loans, workers = project("loans"), AtWork()

    def work():
        with workers:
            time.sleep(0.01)
        return "done"

    async def many():
        own = Turns()
        return await asyncio.gather(*(own.run(loans, work) for _ in range(20)))

    assert asyncio.run(many()) == ["done"] * 20
    assert workers.most == AT_ONCE


def test_another_project_waits_for_none_of_them():
    free = threading.Event()

    async def beside():
        own = Turns()
        held = [asyncio.create_task(own.run(project("slow"), free.wait)) for _ in range(10)]
        await asyncio.sleep(0.01)
        try:
            return await own.run(project("quick"), lambda: "quick")
        finally:
            free.set()
            await asyncio.gather(*held)

    assert asyncio.run(beside()) == "quick"


def test_pieces_are_made_in_turns_in_their_order():
    workers = AtWork()

    def pieces():
        for at in range(5):
            with workers:
                time.sleep(0.005)
            yield at

    async def one(own):
        return [piece async for piece in own.each("project 'loans'", pieces())]

    async def many():
        own = Turns()
        return await asyncio.gather(*(one(own) for _ in range(10)))

    assert asyncio.run(many()) == [list(range(5))] * 10
    assert workers.most == AT_ONCE


def test_who_waits_in_vain_is_told(monkeypatch):
    monkeypatch.setattr(turns, "WAIT_S", 0.05)
    free = threading.Event()

    async def late():
        own, slow = Turns(), project("slow")
        held = [asyncio.create_task(own.run(slow, free.wait)) for _ in range(AT_ONCE)]
        await asyncio.sleep(0.01)
        try:
            with pytest.raises(UnavailableError, match="answering others"):
                await own.run(slow, lambda: None)
        finally:
            free.set()
            await asyncio.gather(*held)
        return await own.run(slow, lambda: "after")

    assert asyncio.run(late()) == "after"
