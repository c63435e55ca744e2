"""Combinations on a device: which are built, which are scored, and which are tried for nearness."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from device.worlds import DEVICES, World, adult, numbers
from macex.device.arrays import on_host
from macex.device.candidates import singles
from macex.device.explainer import Searcher
from macex.device.levels import (
    DeviceBrood,
    DeviceLevel,
    best_parts,
    extensions,
    first_level,
    frugal_parents,
    nearer,
    pairs,
    scored,
)
from macex.stages.search.exhaustive import NEARER


def searcher(world: World, device: str | None) -> Searcher:
    fast = world.fast(device)
    return fast._searcher(np.arange(fast._fitted.outlook.width) == 1)


def open_level(search: Searcher, world: World):
    """The queries that no single change helps, how far they are from the goal, and their parts."""
    own = search.layout.place.array(world.codes)
    base = search.judge(own)[0].progress
    offered = singles(search.layout, own, search.near.values(own))
    level = first_level(search.judge, own, offered)
    xp = search.layout.place.xp
    left = xp.nonzero((base < 0) & ~xp.any(level.reached, axis=1))[0]
    level = level.take(left)
    parts = best_parts(level, base[left], offered.starts, search.search.parents)
    return own[left], base[left], *parts


def distances(search: Searcher, own, level: DeviceLevel) -> np.ndarray:
    mine = on_host(own)[np.arange(len(own))[:, None, None], on_host(level.columns)]
    columns, values = on_host(level.columns), on_host(level.values)
    scale, discrete = on_host(search.layout.scale), on_host(search.layout.discrete)
    steps = np.abs(values - mine) / scale[columns]
    return np.where(discrete[columns], values != mine, steps).sum(axis=2)


def deeper(search: Searcher, own, base, surest, frugal) -> list[tuple[DeviceLevel, DeviceBrood]]:
    """Pairs and triples that were scored, each with those that may be nearer."""
    two = scored(search.judge, own, pairs(surest, base), search.search)
    parents = frugal_parents(two, base, search.search)
    three = scored(search.judge, own, extensions(parents, surest), search.search)
    return [(two, pairs(frugal, base)), (three, extensions(parents, frugal))]


@pytest.mark.parametrize("device", DEVICES)
def test_what_joins_a_level_is_nearer_than_all_that_was_found(device):
    search = searcher(adult(), device)
    own, *rest = open_level(search, adult())
    gained = 0
    for level, brood in deeper(search, own, *rest):
        more = nearer(search.judge, own, brood, level)
        count = level.key.shape[1]
        new = distances(search, own, more)[:, count:]
        asked = np.isfinite(on_host(more.progress))[:, count:]
        found = np.where(on_host(level.reached), distances(search, own, level), np.inf)
        assert new.shape[1] <= NEARER
        assert (new < found.min(axis=1, keepdims=True))[asked].all()
        gained += on_host(more.reached)[:, count:].sum()
    assert gained > 10


@pytest.mark.parametrize("world", [adult, numbers])
def test_a_combination_knows_its_distance_and_is_scored_once(world):
    search = searcher(world(), None)
    own, *rest = open_level(search, world())
    for level, brood in deeper(search, own, *rest):
        more = nearer(search.judge, own, brood, level)
        real = np.isfinite(more.progress)
        np.testing.assert_allclose(more.distance[real], distances(search, own, more)[real])
        for part in (slice(None, level.key.shape[1]), slice(level.key.shape[1], None)):
            for keys, asked in zip(more.key[:, part], real[:, part], strict=True):
                assert len(set(keys[asked])) == asked.sum()
        for row in range(0, len(own), 7):
            sets = [
                tuple(sorted(zip(*changes, strict=True)))
                for changes in zip(more.columns[row], more.values[row], strict=True)
            ]
            assert len(set(sets)) == len(set(more.key[row]))


def test_no_column_is_changed_twice():
    search = searcher(adult(), None)
    own, *rest = open_level(search, adult())
    for level, _ in deeper(search, own, *rest):
        ranked = np.sort(level.columns[np.isfinite(level.progress)], axis=1)
        assert (ranked[:, 1:] != ranked[:, :-1]).all()
