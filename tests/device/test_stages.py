"""Each stage on a device against the stage of the same name in `macex.stages`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from device.worlds import DEVICES, World, adult, numbers
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.goals import AnyOf
from macex.device.arrays import on_host, place_named
from macex.device.candidates import singles
from macex.device.layout import layout_of
from macex.device.neighbors import nearby
from macex.device.plausibility import usual_of
from macex.device.verdicts import compiled, toward
from macex.stages.candidates import offer

FREE = Constraints()
BOUND = Constraints(increase=["a"], ranges={"b": (-0.4, 1.25)})


def space_of(world: World, constraints: Constraints):
    ground, rows = world.explainer.engine.fitted.ground, world.explainer.schema.read(world.queries)
    return build_space(ground, rows, [constraints] * len(rows))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("world", [adult, numbers])
def test_plausibility_is_that_of_the_stage(world, device):
    fitted, codes = world().explainer.engine.fitted, world().codes
    goals = toward(np.arange(fitted.outlook.width) == 1, fitted.outlook, 1e-6)
    reference, layout = fitted.reference(goals, 0), layout_of(fitted, FREE, place_named(device))
    found = usual_of(reference, layout, may_blank=device is None).share(layout.place.array(codes))
    np.testing.assert_allclose(on_host(found), reference.share(codes), atol=1e-3)
    assert len(np.unique(on_host(found))) > 10


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("constraints", [FREE, BOUND])
def test_numbers_with_many_values_are_offered_what_the_stage_offers(constraints, device):
    world = numbers()
    fitted, space = world.explainer.engine.fitted, space_of(world, constraints)
    goals = toward(np.array([False, True, False]), fitted.outlook, 1e-6)
    layout = layout_of(fitted, constraints, place_named(device))
    own = layout.place.array(world.codes)
    near = nearby(fitted, layout, fitted.meeting(goals, 0)).values(own)
    made = singles(layout, own, near)
    many = compiled([AnyOf(("y",))] * len(space), fitted.outlook, 1e-6)
    given = offer(
        fitted.options.candidates, space, fitted.near(space, many, np.ones(len(space), bool))
    )
    wide = [offered.column for offered in layout.offers if offered.wide]
    assert len(wide) >= 4
    alike = []
    for column in wide:
        place = next(at for at, unit in enumerate(space.units) if unit.members[0] == column)
        for query in range(len(space)):
            theirs = given.value[query, (given.unit == place) & given.real[query]]
            real = on_host(made.real)[query] & (on_host(made.column) == column)
            mine = on_host(made.value)[query, real]
            alike.append(set(theirs) == set(mine))
    assert np.mean(alike) > 0.9  # ties among neighbours break otherwise


def compile_alike(goals, count):
    """The same goal for many queries."""
    from dataclasses import replace

    parts = ("by_class", "wanted", "output", "low", "high", "open_low", "open_high")
    return replace(
        goals, **{part: np.repeat(getattr(goals, part), count, axis=0) for part in parts}
    )
