"""Verdicts, budgets and nearest misses."""

from __future__ import annotations

import numpy as np
import pytest

from macex.ask.answers import Answers, compile_goals
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.goals import any_of
from macex.ask.units import Ground
from macex.models.judge import Judge
from models.worlds import DATA, SCHEMA, Recorder, asker_of

QUERIES = DATA.iloc[[10, 20, 30]]


def judge_of(model: Recorder, limit: int = 100, capped: bool = False, **wish) -> Judge:
    """A judge of three queries that want "yes", reached from x = 51."""
    rows = SCHEMA.read(QUERIES)
    asker = asker_of(model, rows, keep=True)
    space = build_space(
        Ground(SCHEMA, SCHEMA.read(DATA).codes), rows, [Constraints(**wish)] * len(rows)
    )
    own = Answers(np.zeros((3, 2)), np.zeros(3, int))
    goals = compile_goals([any_of("yes")] * 3, own, asker.oracle.outlook, 1e-6)
    return Judge(asker, goals, space, np.full(3, limit), capped)


def changes(judge: Judge, *moves: tuple[int, float]) -> tuple[np.ndarray, np.ndarray]:
    """Rows by unit in which x was moved: (query, new x)."""
    at = np.array([query for query, _ in moves], dtype=np.intp)
    codes = judge.space.queries[at].copy()
    codes[:, 0] = [x for _, x in moves]
    return codes, at


def test_a_verdict_says_what_is_reached_and_what_it_cost():
    judge = judge_of(Recorder())
    verdict = judge(*changes(judge, (0, 80), (1, 40), (1, 51)))
    assert verdict.reached.tolist() == [True, False, True]
    assert verdict.score.tolist() == pytest.approx([0.8, 0.4, 0.51])
    assert np.argsort(verdict.progress).tolist() == [1, 2, 0]
    assert judge.spent.tolist() == [1, 2, 0]
    assert judge.rounds.tolist() == [1, 1, 0]
    assert not judge.ran_out.any()


def test_what_a_budget_allows_is_known_before_rows_are_made():
    moves = [(1, 90), (0, 80), (1, 40), (1, 60), (1, 70), (0, 45)]
    judge = judge_of(Recorder(), limit=2)
    codes, at = changes(judge, *moves)
    known = judge.affordable(at, lambda: np.arange(len(at)))
    assert known.tolist() == np.isfinite(judge(codes, at).progress).tolist()
    assert judge_of(Recorder(), limit=2, rules=["x <= 70"]).affordable(at, lambda: at).all()


def test_a_budget_is_spent_first_come_first_served():
    judge = judge_of(Recorder(), limit=2)
    moves = [(1, 90), (0, 80), (1, 40), (1, 60), (1, 70), (0, 45)]
    verdict = judge(*changes(judge, *moves))
    scored = np.isfinite(verdict.progress)
    assert scored.tolist() == [True, True, True, False, False, True]
    assert verdict.reached.tolist() == [True, True, False, False, False, False]
    assert judge.spent.tolist() == [2, 2, 0]
    assert judge.ran_out.tolist() == [False, True, False]


def test_what_is_spent_stays_spent_unless_it_is_the_search_s_own_limit():
    for capped in (False, True):
        model = Recorder()
        judge = judge_of(model, limit=1, capped=capped)
        judge(*changes(judge, (0, 80), (0, 81)))
        assert judge.finished.tolist() == [capped, False, False]
        judge.renew(np.array([True, False, False]), 5)
        verdict = judge(*changes(judge, (0, 82)))
        assert verdict.reached[0] == (not capped)
        assert judge.ran_out[0] == capped
        assert sum(model.sizes) == (1 if capped else 2)


def test_a_row_that_breaks_a_rule_costs_nothing_and_is_never_reached():
    model = Recorder()
    judge = judge_of(model, rules=["x <= 60"])
    verdict = judge(*changes(judge, (0, 80), (0, 55)))
    assert verdict.reached.tolist() == [False, True]
    assert model.sizes == [1]
    assert judge.spent.tolist() == [1, 0, 0]


def test_a_row_that_breaks_a_rule_takes_no_place_in_the_budget():
    judge = judge_of(Recorder(), limit=1, rules=["x <= 60"])
    verdict = judge(*changes(judge, (0, 80), (0, 55)))
    assert verdict.reached.tolist() == [False, True]
    assert not judge.ran_out.any()


def test_a_probe_is_scored_though_it_breaks_a_rule():
    model = Recorder()
    judge = judge_of(model, rules=["x <= 60"])
    verdict = judge(*changes(judge, (0, 80), (0, 55)), probe=True)
    assert verdict.score.tolist() == pytest.approx([0.8, 0.55])
    assert verdict.reached.tolist() == [False, True]
    assert model.sizes == [2]


def test_the_nearest_miss_is_kept_over_all_rounds():
    judge = judge_of(Recorder())
    judge(*changes(judge, (0, 30), (0, 44), (0, 80), (1, 25)))
    judge(*changes(judge, (0, 41), (1, 49)))
    assert judge.miss_codes[:, 0].tolist() == [44, 49, 30]
    assert np.isfinite(judge.miss_progress).tolist() == [True, True, False]


def test_rows_that_are_not_told_are_no_misses():
    judge = judge_of(Recorder())
    verdict = judge(*changes(judge, (0, 49), (1, 30)), told=False)
    assert np.isfinite(verdict.progress).all()
    assert not np.isfinite(judge.miss_progress).any()
    assert judge.spent.tolist() == [1, 1, 0]


def test_of_equal_misses_the_first_is_kept():
    judge = judge_of(Recorder())
    codes, at = changes(judge, (0, 44), (0, 44))
    codes[1, 1] = 2.0
    judge(codes, at)
    assert judge.miss_codes[0].tolist() == codes[0].tolist()


def test_a_miss_keeps_the_constraints():
    judge = judge_of(Recorder(), fixed=["y"], max_changes=1, rules=["x != 45"])
    codes, at = changes(judge, (0, 44), (0, 43), (0, 42), (0, 45))
    codes[0, 1] = 2.0 if codes[0, 1] == 1.0 else 1.0  # y may not change
    codes[1, 2] = (codes[1, 2] + 1) % 4  # two changes
    judge(codes, at, probe=True)
    assert judge.miss_codes[0, 0] == 42


def test_the_last_word_is_given_though_nothing_is_left():
    judge = judge_of(Recorder(), limit=1, capped=True)
    judge(*changes(judge, (0, 80)))
    verdict, decision = judge.confirm(*changes(judge, (0, 81), (0, 20)))
    assert verdict.reached.tolist() == [True, False]
    assert decision.tolist() == [1, 0]
    assert judge.spent.tolist() == [3, 0, 0]


def test_the_last_word_checks_the_constraints_again():
    judge = judge_of(Recorder(), ranges={"x": (None, 70)})
    verdict, _ = judge.confirm(*changes(judge, (0, 80), (0, 60)))
    assert verdict.reached.tolist() == [False, True]


def test_a_query_the_model_fails_on_is_finished():
    def trouble(frame, scores) -> None:
        scores[frame["x"].to_numpy() == 66] = np.nan

    judge = judge_of(Recorder(trouble))
    verdict = judge(*changes(judge, (0, 80), (1, 66), (2, 40)))
    assert verdict.reached.tolist() == [True, False, False]
    assert np.isneginf(verdict.progress).tolist() == [False, True, False]
    assert judge.finished.tolist() == [False, True, False]


def test_nothing_asked_nothing_spent():
    model = Recorder()
    judge = judge_of(model)
    verdict = judge(np.zeros((0, 3)), np.zeros(0, np.intp))
    assert len(verdict.reached) == 0
    assert model.sizes == []
    assert judge.spent.tolist() == [0, 0, 0]
