"""Options are read once: names become stage objects, and a wrong one names the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from macex.engine.options import Options, read_options
from macex.errors import OptionError
from macex.stages.candidates import Both, Domain, Neighbors
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection

DEFAULTS = {
    "candidates": "both",
    "method": "exhaustive",
    "selection": "diverse",
    "finetune": "section",
    "prefer": "fewest",
    "distance": "median",
    "fallback": True,
    "random_state": 0,
    "names": None,
}


def read(**given) -> Options:
    return read_options(**{**DEFAULTS, **given})


def test_names_stand_for_stage_objects_with_the_paper_s_letters():
    options = read()
    assert options.candidates == Both()
    assert options.method == Exhaustive()
    assert options.selection == Selection(uses=1)
    assert options.finetune == Section()
    assert read(candidates="domain").candidates == Domain()
    assert read(selection="printed").selection == Selection(uses=3, printed=True)
    assert read(finetune="gradientless").finetune == GradientlessDescent(20, (0.0005, 0.25))
    assert read(finetune=None).finetune is None


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("candidates", Neighbors(k=7)),
        ("method", Exhaustive(beam=3)),
        ("selection", Selection(uses=2)),
        ("finetune", Section(rounds=1)),
    ],
)
def test_a_stage_object_is_taken_as_it_is(option, given):
    assert getattr(read(**{option: given}), option) is given


@pytest.mark.parametrize(
    ("option", "given", "hint"),
    [
        ("candidates", "neighbours", "did you mean 'neighbors'"),
        ("candidates", Exhaustive(), "Neighbors or Domain or Both"),
        ("method", "exhaustiv", "did you mean 'exhaustive'"),
        ("method", Exhaustive, r"Exhaustive\(\), or a name"),
        ("method", None, "it has no name, max_rows"),
        ("selection", "divers", "did you mean 'diverse'"),
        ("finetune", "sections", "did you mean 'section'"),
        ("finetune", False, "Section or GradientlessDescent"),
        ("prefer", "fewer", "did you mean 'fewest'"),
        ("distance", "medain", "did you mean 'median'"),
        ("distance", 2, "a function of two frames"),
        ("fallback", "no", "True or False"),
        ("random_state", 1.5, "whole number"),
        ("random_state", None, "whole number"),
        ("random_state", True, "whole number"),
        ("names", ["age"], "maps columns"),
    ],
)
def test_a_wrong_option_names_itself_and_what_is_right(option, given, hint):
    with pytest.raises(OptionError, match=hint) as error:
        read(**{option: given})
    assert option in str(error.value)


@pytest.mark.parametrize("unhashable", [[], {}, np.zeros(2)], ids=["list", "dict", "array"])
@pytest.mark.parametrize("option", ["candidates", "method", "prefer", "distance"])
def test_an_option_of_any_type_is_refused_politely(option, unhashable):
    with pytest.raises(OptionError, match=option):
        read(**{option: unhashable})


def test_numpy_numbers_are_numbers():
    options = read(random_state=np.int64(7))
    assert options.random_state == 7
    assert type(options.random_state) is int


def test_names_are_texts():
    assert read(names={1: "one"}).names == {"1": "one"}
    assert read().names == {}


def test_a_distance_may_be_a_function():
    def apart(before, after):
        return 0.0

    assert read(distance=apart).distance is apart


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (Exhaustive(beam=3), "exhaustive"),
        (Reinforce(epochs=2), "reinforce"),
        (GradientlessSearch(rounds=2), "gradientless"),
    ],
)
def test_the_chain_starts_with_the_search_and_tries_every_other_once(method, name):
    options = read(method=method)
    assert method.name == options.method.name == name
    chain = options.chain
    assert chain[0] is method
    assert {s.name for s in chain} == {"exhaustive", "reinforce", "gradientless"}
    assert len(chain) == 3
    assert read(method=method, fallback=False).chain == (method,)


def test_neighbours_are_sought_as_the_candidates_say():
    seven = Neighbors(k=7)
    assert read(candidates=seven).neighbors is seven
    assert read(candidates=Both(neighbors=seven)).neighbors is seven
    assert read(candidates="domain").neighbors == Neighbors()
