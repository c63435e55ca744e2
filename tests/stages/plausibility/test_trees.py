"""Trees tell apart what can be told apart, and say the same of a row alone and in a batch."""

from __future__ import annotations

import numpy as np

from macex.stages.plausibility import trees as module
from macex.stages.plausibility.trees import DEPTH, MOST_CELLS, Sample, Trees, fit_trees, swapped


def sample(count: int, seed: int) -> Sample:
    """A row is real where two of its three bins agree in being high; the third is a category."""
    draw = np.random.default_rng(seed)
    bins = draw.integers(0, 8, (3, count)).astype(np.uint8)
    real = ((bins[0] > 3) == (bins[1] > 3)) ^ (bins[2] == 5)
    return Sample(bins, real.astype(float), np.ones(count))


def fitted() -> Trees:
    sizes, unordered = np.array([8, 8, 8]), np.array([False, False, True])
    return fit_trees(sample(2000, 0), sample(500, 1), sizes, unordered, np.random.default_rng(0))


def test_they_learn_an_interaction_of_numbers_and_a_category():
    other = sample(500, 2)
    assert ((fitted()(other.bins) > 0) == (other.real > 0)).mean() > 0.99


def test_a_row_alone_is_judged_as_among_others_bit_for_bit():
    trees, bins = fitted(), sample(300, 3).bins
    together = trees(bins)
    alone = [trees(bins[:, place : place + 1])[0] for place in range(300)]
    assert together.tolist() == alone
    both = Trees.join([trees, trees])
    assert np.allclose(both(bins), together, atol=1e-6)


def test_they_say_what_walking_down_each_tree_says():
    trees, bins = fitted(), sample(40, 4).bins
    for place, total in enumerate(trees(bins)):
        walked = 0.0
        for tree in range(len(trees.values)):
            leaf = 0
            for level in range(DEPTH):
                seen, bound = bins[trees.place[tree, level], place], trees.bound[tree, level]
                leaf = 2 * leaf + int(seen == bound if trees.equal[tree, level] else seen > bound)
            walked += trees.values[tree, leaf]
        assert total == walked


def test_noise_gives_few_trees_and_inputs_of_one_bin_none():
    draw = np.random.default_rng(0)
    noise = Sample(
        draw.integers(0, 8, (3, 400)).astype(np.uint8), draw.integers(0, 2, 400) * 1.0, np.ones(400)
    )
    flat = np.array([False] * 3)
    assert (
        len(fit_trees(noise, noise._replace(real=1 - noise.real), np.full(3, 8), flat, draw).values)
        < 5
    )
    none = fit_trees(noise, noise, np.ones(3, int), flat, draw)
    assert none(noise.bins).tolist() == [0.0] * 400


def test_a_level_adds_up_no_more_than_half_of_the_rows_and_its_sums_are_exact(monkeypatch):
    added, split, rows = module._added, module._halves, []

    def noted(cells, part, count):
        rows.append(len(cells))
        return added(cells, part, count)

    def checked(sums, cells, leaf, parts, above):
        halves = split(sums, cells, leaf, parts, above)
        nodes, width = sums[0].shape
        within = cells + ((2 * leaf + above) * width)[:, None]
        for half, part in zip(halves, parts, strict=True):
            assert half.tobytes() == added(within, part, 2 * nodes * width).tobytes()
        return halves

    monkeypatch.setattr(module, "_added", noted)
    monkeypatch.setattr(module, "_halves", checked)
    assert len(fitted().values) > 5
    trees = np.array(rows).reshape(-1, DEPTH, 2)  # by level, of slopes and of curves
    assert (trees[:, 0] == 2000).all()
    assert (trees[:, 1:] <= 1000).all()


def rows(count: int = 300) -> np.ndarray:
    draw = np.random.default_rng(0)
    return np.column_stack([draw.integers(0, k, count) for k in (2, 5, 50, 1, 400)]).astype(float)


def test_one_to_three_cells_differ_and_none_in_a_constant_column():
    real = rows()
    copies, differs = swapped(real, real, np.random.default_rng(1))
    changed = (copies != real).sum(axis=1)
    assert differs.mean() > 0.95
    assert np.array_equal(differs, changed > 0)
    assert set(changed[differs]) == {1, 2, MOST_CELLS}
    assert np.array_equal(copies[:, 3], real[:, 3])


def test_new_values_are_values_of_their_columns():
    real = rows()
    copies, _ = swapped(real[:50], real, np.random.default_rng(1))
    for before, after in zip(real.T, copies.T, strict=True):
        assert np.isin(after, before).all()


def test_rare_values_come_up_more_often_than_in_training():
    real = rows(3000)
    real[:, 1] = 0.0
    real[:10, 1] = 1.0
    copies, _ = swapped(real, real, np.random.default_rng(1))
    assert (copies[:, 1] == 1.0).sum() > 50


def test_rows_of_constant_columns_have_no_copy_that_differs():
    copies, differs = swapped(np.ones((5, 3)), np.ones((5, 3)), np.random.default_rng(0))
    assert np.array_equal(copies, np.ones((5, 3)))
    assert not differs.any()
