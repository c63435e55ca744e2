"""Robust answers hold next to themselves, and with other models."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, refused, town
from macex.audit import read_records
from macex.explanation.json import schema


def stricter(rows: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp(1.5 - merit(rows)))


def nearby(row: pd.DataFrame, count: int = 64) -> pd.DataFrame:
    """Rows within one step or 1 % of the range of every number."""
    draw = np.random.default_rng(0)
    rows = pd.concat([row] * count, ignore_index=True)
    for column in ("income", "debt", "age"):
        moved = rows[column] + draw.choice([-1, 1], count)
        rows[column] = moved.clip(town()[column].min(), town()[column].max())
    return rows


def test_nothing_is_measured_unless_asked():
    bank = Bank()
    chooser = explainer(bank)
    rows = refused(30)
    plain = chooser.explain(rows, want=YES)
    assert all(item.counterfactuals[0].robustness is None for item in plain)
    assert "robustness" not in plain.to_json()


def test_measuring_changes_no_answer_and_costs_no_call_more():
    rows = refused(30)
    bank = Bank()
    chooser = explainer(bank)
    bank.calls = 0
    plain = chooser.explain(rows, want=YES)
    calls, bank.calls = bank.calls, 0
    measured = chooser.explain(rows, want=YES, robust=0)
    assert bank.calls == calls
    for a, b in zip(plain, measured, strict=True):
        assert a.counterfactuals[0].changes == b.counterfactuals[0].changes
        assert 0 <= b.counterfactuals[0].robustness <= 1


def test_robust_answers_hold_next_to_themselves():
    rows = refused(40)
    plain = explainer(prefer="fewest").explain(rows, want=YES, robust=0)
    sturdy = explainer(prefer="fewest").explain(rows, want=YES, robust=0.9)
    assert np.mean([a.counterfactuals[0].robustness for a in plain]) < 0.9
    for item in sturdy:
        answer = item.counterfactuals[0]
        assert answer.robustness >= 0.9
        assert (merit(nearby(answer.row)) > 0).mean() >= 0.8
        assert answer.label == YES


def test_the_plausibility_of_robust_answers_is_known():
    found = explainer().explain(refused(40), want=YES, robust=0.9)
    usual = [item.counterfactuals[0].plausibility for item in found]
    assert all(share is not None and 0 <= share <= 1 for share in usual)


def test_other_models_must_agree():
    found = explainer().explain(refused(40), want=YES, also=[stricter])
    for item in found:
        assert stricter(item.counterfactuals[0].row)[0] > 0.5
    both = explainer().explain(refused(40), want=YES, also=[stricter], robust=1)
    assert all((stricter(nearby(item.counterfactuals[0].row)) > 0.5).mean() > 0.9 for item in both)


def test_a_model_that_never_agrees_leaves_a_reason():
    found = explainer().explain(refused(10), want=YES, also=[lambda rows: np.zeros(len(rows))])
    for item in found:
        assert item.status == "not_found"
        assert "holds with the other models" in item.reason


def test_constraints_hold_in_robust_answers():
    constraints = mx.Constraints(fixed=["gender", "age"], decrease=["debt"], max_changes=2)
    found = explainer().explain(refused(40), want=YES, robust=0.9, constraints=constraints)
    for item in found:
        for answer in item.counterfactuals:
            changed = {change.column: change for change in answer.changes}
            assert len(changed) <= 2
            assert not changed.keys() & {"gender", "age"}
            assert "debt" not in changed or changed["debt"].after < changed["debt"].before


def test_a_batch_changes_no_robust_answer():
    rows = refused(20)
    together = explainer().explain(rows, want=YES, robust=0.9)
    alone = [explainer().explain(rows.iloc[[at]], want=YES, robust=0.9)[0] for at in range(4)]
    for one, item in zip(alone, together, strict=False):
        assert one.to_json(canonical=True) == item.to_json(canonical=True)


def test_max_rows_is_kept():
    found = explainer().explain(refused(20), want=YES, robust=0.9, max_rows=400)
    assert max(item.cost.rows for item in found) <= 400 + 3 * 33


def test_robustness_stands_in_text_json_and_page():
    found = explainer().explain(refused(5), want=YES, robust=0.9)
    assert "robust 1.00" in repr(found)
    assert '"robustness"' in found.to_json(canonical=True)
    jsonschema.validate(json.loads(found.to_json()), schema())
    assert "robust 1.00" in found.to_html()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"robust": 2}, "robust must be a share"),
        ({"robust": True}, "robust must be a share"),
        ({"also": Bank()}, "also takes a list"),
        ({"also": [3]}, r"also\[0\] cannot be asked"),
    ],
)
def test_wrong_calls_are_told(options, said):
    with pytest.raises(mx.OptionError, match=said):
        explainer().explain(refused(5), want=YES, **options)


def test_another_model_must_know_the_same_classes():
    class Other:
        classes_ = np.array([YES, NO])

        def predict_proba(self, rows):
            return np.full((len(rows), 2), 0.5)

    with pytest.raises(mx.OptionError, match="decides between"):
        explainer().explain(refused(5), want=YES, also=[Other()])


def test_an_audit_keeps_robust_and_the_other_models(tmp_path):
    audit = tmp_path / "audit.jsonl"
    bank = Bank()
    chooser = explainer(bank, audit=audit)
    chooser.explain(refused(3), want=YES, robust=0.9)
    (first, *_) = [line.split('"id":')[1][2:10] for line in audit.read_text().splitlines()]
    again = mx.replay(first, audit, model=bank, data=town())
    assert again.difference is None
    chooser.explain(refused(3), want=YES, also=[stricter])
    last = list(read_records(audit))[-1]
    assert last["call"]["also"] == [{"path": None, "sha256": None}]
    with pytest.raises(mx.OptionError, match="pass also="):
        mx.replay(last["id"], audit, model=bank, data=town())
    with pytest.raises(mx.OptionError, match="2 models, and the record 1"):
        mx.replay(last["id"], audit, model=bank, data=town(), also=[stricter, stricter])
    assert mx.replay(last["id"], audit, model=bank, data=town(), also=[stricter]).agrees
    other = mx.replay(last["id"], audit, model=bank, data=town(), also=[bank])
    assert not other.agrees
