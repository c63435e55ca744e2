"""Ranks and tests over cells, against figures that others have published."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from macex.bench.arena.diagram import RankDiagram
from macex.bench.arena.ranks import (
    critical_difference,
    friedman,
    groups,
    mean_ranks,
    signed_ranks,
)

DEMSAR = np.array([  # table 6 of his paper: AUC of C4.5 and three variants on fourteen tables
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
])  # fmt: skip


def test_demsar_ranks_four_methods_on_fourteen_tables():
    assert mean_ranks(-DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=1e-3)


def test_friedman_is_his_formula_corrected_for_ties():
    """His 9.28 is without the correction; the chance is that of chi-square with 3 degrees."""
    ranks = rankdata(-DEMSAR, axis=1)
    n, k = ranks.shape
    plain = 12 * n / (k * (k + 1)) * ((ranks.mean(axis=0) ** 2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    ties = sum((np.unique(line, return_counts=True)[1] ** 3).sum() - k for line in ranks)
    from scipy.stats import chi2

    corrected = plain / (1 - ties / (n * (k**3 - k)))
    assert friedman(-DEMSAR) == pytest.approx(chi2.sf(corrected, k - 1))


def test_friedman_sees_nothing_where_all_are_alike():
    assert friedman(np.ones((5, 3))) == 1.0
    assert np.isnan(friedman(np.ones((5, 2))))


@pytest.mark.parametrize(
    ("methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)]
)
def test_the_critical_difference_has_the_published_quantiles(methods, q):
    """Table 5a of Demsar."""
    scale = np.sqrt(methods * (methods + 1) / (6 * 14))
    assert critical_difference(methods, 14) == pytest.approx(q * scale, abs=1e-3)


def test_runs_that_are_not_told_apart_are_the_longest_there_are():
    assert groups(np.array([1.0, 1.8, 2.6, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert groups(np.array([1.0, 3.0]), 1.0) == []


def test_the_diagram_has_every_method_at_its_rank_and_a_bar_for_every_run():
    ranks = {"far": 3.9, "near": 1.5, "best": 1.0, "middle": 2.2}
    made = RankDiagram(ranks, difference=0.9, of="changes")
    drawn = made.drawn().inside
    assert [drawn.index(f"{name}: ") for name in ("best", "near", "middle", "far")] == sorted(
        drawn.index(f"{name}: ") for name in ranks
    )
    assert drawn.count("<circle") == 4
    assert drawn.count("mx-line-after") == 2
    assert str(made).endswith("not told apart: best to near; near to middle")


@pytest.mark.parametrize("pairs", [6, 9, 20])
def test_signed_ranks_are_scipys(pairs):
    """Which is exact for few pairs with ties, too, and for many without."""
    random = np.random.default_rng(pairs)
    apart = random.normal(size=(pairs, 8))
    assert signed_ranks(apart) == pytest.approx(wilcoxon(apart, axis=0).pvalue)
    if pairs < 13:
        tied = random.integers(-2, 3, (pairs, 8)).astype(float)
        scipys = [float(wilcoxon(column[column != 0]).pvalue) for column in tied.T]
        assert signed_ranks(tied) == pytest.approx(scipys)


def test_no_differences_are_no_sign_of_any():
    assert signed_ranks(np.zeros((4, 2))).tolist() == [1.0, 1.0]
