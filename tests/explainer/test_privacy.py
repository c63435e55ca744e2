"""What is shown and stored of training rows."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, refused, town
from macex.schema import row_keys


def test_only_values_that_enough_training_rows_have_are_set():
    counts = {column: town()[column].value_counts() for column in town()}
    constraints = mx.Constraints(min_support=5, fixed=["gender"])
    found = explainer().explain(refused(40), want=YES, n=2, constraints=constraints)
    changes = [c for item in found for answer in item.counterfactuals for c in answer.changes]
    assert changes
    assert all(counts[change.column][change.after] >= 5 for change in changes)


def test_a_present_value_that_few_have_may_stay():
    rows = refused(5).assign(age=79)
    constraints = mx.Constraints(min_support=20, strict=True, only=["job", "gender"])
    found = explainer().explain(rows, want=YES, constraints=constraints)
    assert all(item.status in ("found", "none") for item in found)


def test_groups_need_the_support_of_their_combination():
    pairs = town().groupby(["job", "gender"]).size()
    least = int(pairs.sort_values().iloc[2])
    constraints = mx.Constraints(groups=[["gender", "job"]], only=["gender", "job"])
    found = explainer().explain(
        refused(60), want=YES, constraints=constraints.merge(mx.Constraints(min_support=least))
    )
    for item in found:
        for answer in item.counterfactuals:
            row = answer.row.iloc[0]
            assert pairs[row["job"], row["gender"]] >= least


def test_a_support_that_nothing_has_is_an_answer():
    found = explainer().explain(refused(3), want=YES, constraints={"min_support": 10_000})
    assert {item.status for item in found} == {"none"}
    assert "min_support 10000" in found[0].reason


def test_the_larger_support_wins_and_a_wrong_one_is_told():
    both = mx.Constraints(min_support=3).merge(mx.Constraints(min_support=5))
    assert both == mx.Constraints.from_dict({"min_support": 5})
    with pytest.raises(mx.ConstraintError, match="min_support must be a whole number"):
        mx.Constraints(min_support=-1)


def test_an_answer_that_equals_a_training_row_is_flagged():
    data = town()
    target = data.iloc[[int(np.argmax(data["income"] - data["debt"]))]]
    query = target.assign(income=20)
    found = explainer().explain(
        query, want=YES, constraints={"only": ["income"], "allowed": {"income": target["income"]}}
    )
    answer = found[0].counterfactuals[0]
    assert answer.copies
    assert "equals a training row" in repr(found)
    assert '"copies": true' in found.to_json()
    assert "copies" not in found.to_json(canonical=True)


def test_other_answers_are_not_flagged():
    data = set(map(tuple, town().to_numpy().tolist()))
    for item in explainer().explain(refused(40), want=YES):
        answer = item.counterfactuals[0]
        assert answer.copies == (tuple(answer.row.iloc[0]) in data)


def test_a_private_file_has_no_row_of_training(tmp_path):
    chooser = mx.Explainer(Bank(), town(2000), classes=(NO, YES))
    chooser.save(tmp_path / "private.macex", private=True)
    again = mx.load(tmp_path / "private.macex", Bank())
    stored, trained = again._fitted.ground.codes, chooser._fitted.ground.codes
    same = np.isin(row_keys(stored), row_keys(trained)).mean()
    shuffled = np.random.default_rng(1).permuted(trained, axis=0)
    chance = np.isin(row_keys(shuffled), row_keys(trained)).mean()
    assert same <= chance + 0.01
    assert np.array_equal(np.sort(stored, axis=0), np.sort(trained, axis=0))


def test_a_private_explainer_answers_and_says_what_it_does_not_know(tmp_path):
    rows = refused(30)
    explainer().save(tmp_path / "private.macex", private=True)
    again = mx.load(tmp_path / "private.macex", Bank())
    whole = explainer().explain(rows, want=YES)
    for a, b in zip(again.explain(rows, want=YES), whole, strict=True):
        answer = a.counterfactuals[0]
        assert answer.sparsity == b.counterfactuals[0].sparsity
        assert (answer.plausibility, answer.support, answer.copies) == (None, 0, False)
    with pytest.raises(mx.ConstraintError, match="saved without its rows"):
        again.explain(rows, want=YES, constraints={"groups": [["job", "gender"]]})
    again.save(tmp_path / "again.macex")
    assert mx.load(tmp_path / "again.macex", Bank())._fitted.ground.private


def test_groups_cannot_be_saved_privately(tmp_path):
    grouped = explainer(constraints={"groups": [["job", "gender"]]})
    with pytest.raises(mx.OptionError, match="private=True stores no rows"):
        grouped.save(tmp_path / "private.macex", private=True)
    assert not list(tmp_path.iterdir())
