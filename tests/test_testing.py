"""The laws for searches hold for macex's own, and catch a search that breaks them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.engine import options
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.shapes import Found, Pool
from macex.testing import check_search


@dataclass(frozen=True)
class Climb:
    """Take the best single change, then the best next one, until the goal is reached."""

    name: ClassVar[str] = "climb"
    proves: ClassVar[bool] = False
    offered: ClassVar[str] = "few"
    max_rows: int = 4000
    rounds: int = 4

    def __call__(self, task, candidates):
        here, pools = task.queries.copy(), []
        usable = candidates.real & candidates.allowed
        most = np.minimum(task.max_changes, self.rounds)
        for turn in range(self.rounds):
            at, entry = np.nonzero(usable & (most > turn)[:, None])
            if not len(at):
                break
            codes = here[at]
            codes[np.arange(len(at)), candidates.unit[entry]] = candidates.value[at, entry]
            verdict = task.judge(codes, at)
            pools.append(Pool(at, codes, verdict.progress).take(verdict.reached))
            order = np.lexsort((entry, -verdict.progress, at))
            best = order[np.unique(at[order], return_index=True)[1]]
            here[at[best]] = codes[best]
            usable[np.unique(at[verdict.reached])] = False
            usable[at[best][:, None], np.arange(usable.shape[1])] &= (
                candidates.unit != candidates.unit[entry[best]][:, None]
            )
        return Found.unproved(Pool.join(pools, task.space.width), candidates)


@pytest.mark.parametrize("search", [*options.BUILT_IN.values(), Climb()], ids=lambda s: s.name)
def test_searches_keep_the_laws(search):
    assert check_search(search, seeds=2) > 40


@dataclass(frozen=True)
class Boaster(Exhaustive):
    """Proves what is not so."""

    name: ClassVar[str] = "boaster"

    def __call__(self, task, candidates):
        found = super().__call__(task, candidates)
        return replace(found, pool=found.pool.take(np.zeros(0, int)), proved=found.proved + 9)


@dataclass(frozen=True)
class Moody(Climb):
    """Answers otherwise in company."""

    name: ClassVar[str] = "moody"

    def __call__(self, task, candidates):
        found = Climb.__call__(self, task, candidates)
        alone = len(task.queries) == 1
        return replace(found, pool=found.pool.take(np.zeros(0, int))) if alone else found


@pytest.mark.parametrize(("search", "said"), [(Boaster(), "suffice"), (Moody(), "alone")])
def test_a_search_that_breaks_a_law_is_caught(search, said):
    with pytest.raises(AssertionError, match=said):
        check_search(search, seeds=2)


def test_an_object_that_is_no_search_is_refused_with_what_it_lacks():
    data = pd.DataFrame({"x": range(10)})
    with pytest.raises(mx.OptionError, match="no name, max_rows, proves, offered"):
        mx.Explainer(lambda rows: rows["x"] / 10, data, classes=(0, 1), method=object())
    with pytest.raises(mx.OptionError, match=r"Climb\(\)"):
        mx.Explainer(lambda rows: rows["x"] / 10, data, classes=(0, 1), method=Climb)


class Point:
    """An entry point."""

    name, value = "climb", "somewhere:Climb"

    def load(self):
        return Climb


def test_a_registered_search_is_known_by_name_and_can_be_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(options, "entry_points", lambda group: [Point()])
    options.registered.cache_clear()
    data = pd.DataFrame({"x": range(20), "y": [1, 2] * 10})

    def model(rows):
        return 1 / (1 + np.exp(9.5 - rows["x"]))

    explainer = mx.Explainer(model, data, classes=(0, 1), method="climb")
    found = explainer.explain(data.head(3))
    assert [one.method for one in found] == ["climb"] * 3
    explainer.save(tmp_path / "saved.macex")
    again = mx.load(tmp_path / "saved.macex", model).explain(data.head(3))
    assert again.to_json(canonical=True) == found.to_json(canonical=True)
    options.registered.cache_clear()
    monkeypatch.undo()
    with pytest.raises(mx.SavedError, match="nor registered"):
        mx.load(tmp_path / "saved.macex", model)
