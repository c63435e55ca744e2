"""Many follow a job by one look, and a key holds so many streams."""

from __future__ import annotations

import asyncio
import threading

import pytest

from macex.server import followers
from macex.server.followers import STREAMS, Following
from macex.server.problems import ProblemError


def test_one_look_serves_all_who_follow():
    looks: list[str] = []

    def look(job):
        looks.append(job)
        return f"{job} {min(len(looks), 3)}", len(looks) >= 3

    async def follow(news):
        return [text async for text in news.of("a")]

    async def all_of_them():
        news = Following(look)
        return await asyncio.gather(*(follow(news) for _ in range(40)))

    told = asyncio.run(all_of_them())
    assert told == [["a 1", "a 2", "a 3"]] * 40
    assert looks == ["a"] * 3


def test_what_is_said_again_is_no_news(monkeypatch):
    monkeypatch.setattr(followers, "LOOK_S", 0.01)
    said = iter(["a", "a", "a", "b", "b"])

    async def told():
        news = Following(lambda _: (one, one == "b") if (one := next(said, None)) else None)
        return [text async for text in news.of("job")]

    assert asyncio.run(told()) == ["a", "b"]


def test_a_job_that_is_gone_ends_its_story():
    async def told():
        return [text async for text in Following(lambda _: None).of("gone")]

    assert asyncio.run(told()) == []


def test_a_look_that_fails_is_told_to_who_follows_and_is_made_again(monkeypatch):
    monkeypatch.setattr(followers, "LOOK_S", 0.0)
    fails = [True]

    def look(_job):
        if fails.pop() if fails else False:
            raise OSError("the database is gone")
        return "there", True

    async def twice():
        news = Following(look)
        with pytest.raises(OSError, match="gone"):
            await anext(news.of("job"))
        return [text async for text in news.of("job")]

    assert asyncio.run(twice()) == ["there"]


def test_no_look_blocks_the_loop():
    async def where():
        loop, seen = threading.get_ident(), []

        def look(_job):
            seen.append(threading.get_ident())
            return "there", True

        [_ async for _ in Following(look).of("job")]
        return loop in seen

    assert asyncio.run(where()) is False


def test_a_key_has_so_many_seats_and_gives_them_back():
    news = Following(lambda _: None)
    seats = [news.seat("alice") for _ in range(STREAMS)]
    for seat in seats:
        seat.__enter__()
    with pytest.raises(ProblemError) as refused, news.seat("alice"):
        pass
    assert (refused.value.status, refused.value.code) == (429, "too_many_streams")
    with news.seat("bob"):
        pass
    for seat in seats:
        seat.__exit__(None, None, None)
    with news.seat("alice"):
        pass
