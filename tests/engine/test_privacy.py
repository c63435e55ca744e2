"""What is shown and stored of training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
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
    stored, trained = again.engine.fitted.ground.codes, chooser.engine.fitted.ground.codes
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
        assert (answer.support, answer.copies) == (0, False)
    with pytest.raises(mx.ConstraintError, match="saved without its rows"):
        again.explain(rows, want=YES, constraints={"groups": [["job", "gender"]]})
    again.save(tmp_path / "again.macex")
    assert mx.load(tmp_path / "again.macex", Bank()).engine.fitted.ground.private


def test_a_private_explainer_knows_how_plausible_rows_are_if_that_was_learned(tmp_path):
    whole = explainer(plausibility="learned")
    whole.save(tmp_path / "private.macex", private=True)
    again = mx.load(tmp_path / "private.macex", Bank())
    again.save(tmp_path / "again.macex")
    rows = refused(30)
    expected = whole.plausibility(rows)
    assert np.array_equal(again.plausibility(rows), expected)
    assert np.array_equal(mx.load(tmp_path / "again.macex", Bank()).plausibility(rows), expected)
    for label in (NO, YES):
        assert np.array_equal(again.plausibility(rows, label), whole.plausibility(rows, label))
    shares = [one.counterfactuals[0].plausibility for one in again.explain(rows, want=YES)]
    assert shares == [o.counterfactuals[0].plausibility for o in whole.explain(rows, want=YES)]


def test_a_private_explainer_does_not_know_how_far_training_rows_are(tmp_path):
    chooser = explainer(plausibility="distance")
    chooser.save(tmp_path / "private.macex", private=True)
    again = mx.load(tmp_path / "private.macex", Bank())
    assert np.isnan(again.plausibility(refused(3))).all()
    assert again.explain(refused(3), want=YES)[0].counterfactuals[0].plausibility is None


def test_groups_cannot_be_saved_privately(tmp_path):
    grouped = explainer(constraints={"groups": [["job", "gender"]]})
    with pytest.raises(mx.OptionError, match="private=True stores no rows"):
        grouped.save(tmp_path / "private.macex", private=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("gone", "may"), [(0, False), (4, False), (5, True), (9, True)])
def test_missing_is_set_only_where_enough_rows_miss_it(gone, may):
    income = np.tile([1.0, 2.0, 3.0, 4.0], 20)
    income[:gone] = np.nan
    data = pd.DataFrame({"income": income, "age": np.repeat([30, 40], 40)})
    asked = mx.Explainer(lambda rows: rows["income"].isna().to_numpy(float), data)
    wish = mx.Constraints(min_support=5, may_blank=["income"])
    (found,) = asked.explain(data.tail(1), want=mx.at_least(1), constraints=wish)
    assert (found.status == "found") == may


def test_a_value_that_was_missing_is_set_to_one_that_enough_rows_have():
    rng = np.random.default_rng(0)
    when = pd.to_datetime(rng.choice(10**18 + rng.integers(0, 10**17, 9), 60))  # nanoseconds
    town = pd.Series(rng.choice(["Bern", "Oslo", "Rome"], 60), dtype=object)
    data = pd.DataFrame({"when": when, "town": town, "size": rng.integers(0, 9, 60).astype(float)})
    data = data.mask(rng.random(data.shape) < 0.2)
    known = {name: cells.value_counts() for name, cells in data.items()}

    def score(rows: pd.DataFrame) -> np.ndarray:
        return rows.notna().sum(axis=1).to_numpy(float) + rows["size"].fillna(0) / 9

    rows = data[data.isna().any(axis=1)]
    found = mx.Explainer(score, data).explain(
        rows, n=3, want=mx.rise_by(1), constraints={"min_support": 6}
    )
    changes = [one for item in found for cf in item.counterfactuals for one in cf.changes]
    assert any(change.before is None for change in changes)
    assert all(known[change.column].get(change.after, 0) >= 6 for change in changes)
