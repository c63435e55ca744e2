"""Explainers of very many training rows: an index stands in for comparing them all."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

import macex as mx
from macex.bench import synthetic
from macex.stages import approximate

pytest.importorskip("faiss")

DATA = synthetic.table(10_000)
ASKED = synthetic.table(40, seed=1)
KINDS = ("ivf", "hnsw")
WANTS = (None, "yes", mx.at_least(0.8), mx.rise_by(0.1))
NAMES = ("any other", "a label", "a score", "a rise")


def explainer_with(kind: str, **options) -> mx.Explainer:
    return mx.Explainer(
        synthetic.model, DATA, classes=("no", "yes"), candidates=mx.Neighbors(index=kind), **options
    )


@pytest.fixture(scope="module", params=KINDS)
def explainer(request) -> mx.Explainer:
    return explainer_with(request.param)


@pytest.fixture(scope="module")
def exact() -> mx.Explainer:
    return explainer_with("exact")


@pytest.mark.parametrize("want", WANTS, ids=NAMES)
def test_answers_are_about_as_good_as_those_of_comparing_all_rows(explainer, exact, want):
    mine, best = explainer.explain(ASKED, want=want), exact.explain(ASKED, want=want)
    assert [one.status for one in mine] == [one.status for one in best]
    assert [one.sparsity for one in answers(mine)] == [one.sparsity for one in answers(best)]
    mean, least = mine.metrics()["distance"], best.metrics()["distance"]
    assert mean == pytest.approx(least, rel=0.05)


def answers(found: mx.Explanations) -> list:
    return [one.counterfactuals[0] for one in found if one.counterfactuals]


@pytest.mark.parametrize("want", WANTS, ids=NAMES)
def test_a_row_alone_is_answered_as_among_others(explainer, want):
    together = explained(explainer, ASKED, want)
    for at in (0, 7, 39):
        assert explained(explainer, ASKED.iloc[[at]], want) == [together[at]]


def explained(explainer: mx.Explainer, rows, want) -> list:
    found = explainer.explain(rows, want=want)
    return json.loads(found.to_json(canonical=True))["explanations"]


def test_constraints_of_a_call_are_kept_without_a_new_index(explainer, exact):
    wish = mx.Constraints(fixed=["number1", "letter2"])
    mine, best = explainer.explain(ASKED, constraints=wish), exact.explain(ASKED, constraints=wish)
    for one in answers(mine):
        assert {change.column for change in one.changes}.isdisjoint({"number1", "letter2"})
    assert mine.metrics()["sparsity"] == pytest.approx(best.metrics()["sparsity"], rel=0.02)


def test_an_explainer_says_how_its_neighbours_are_found(explainer, exact):
    assert explainer.neighbors_recall >= 0.99
    assert f"recall {explainer.neighbors_recall:.3f}" in repr(explainer)
    assert exact.neighbors_recall is None
    assert "recall" not in repr(exact)


def test_the_index_is_saved_and_answers_the_same(explainer, tmp_path):
    explainer.save(tmp_path / "many.macex")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = mx.load(tmp_path / "many.macex", synthetic.model)
    assert again.neighbors_recall == explainer.neighbors_recall
    assert again.explain(ASKED).to_json(canonical=True) == explainer.explain(ASKED).to_json(
        canonical=True
    )


def test_a_saved_index_that_lacks_a_part_or_does_not_fit_is_refused(explainer, tmp_path):
    explainer.save(tmp_path / "many.macex")
    with zipfile.ZipFile(tmp_path / "many.macex") as box:
        parts = {name: box.read(name) for name in box.namelist()}
    indexed = [name for name in parts if name.startswith("neighbors.") and "recall" not in name]
    for name in indexed:
        write(tmp_path / "less.macex", {n: b for n, b in parts.items() if n != name})
        with pytest.raises(mx.SavedError, match="is not a whole explainer"):
            mx.load(tmp_path / "less.macex", synthetic.model)


def write(path, parts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as box:
        for name, content in parts.items():
            box.writestr(name, content)


def test_private_files_hold_no_index_of_rows(explainer, tmp_path):
    explainer.save(tmp_path / "private.macex", private=True)
    with zipfile.ZipFile(tmp_path / "private.macex") as box:
        assert not [name for name in box.namelist() if name.startswith("neighbors.")]


def test_an_index_that_is_none_is_an_error_that_names_the_others():
    with pytest.raises(mx.OptionError, match="'ivf'"):
        mx.Neighbors(index="ivff")


WITHOUT = """
import sys, warnings
sys.modules["faiss"] = None
import macex as mx
from macex.bench import synthetic
from macex.stages import approximate
approximate.EXACT = 1000
data = synthetic.table(3000)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    explainer = mx.Explainer(synthetic.model, data, classes=("no", "yes"))
    found = explainer.explain(data.head(5))
print([str(one.message) for one in said], explainer.neighbors_recall, found.metrics()["validity"])
try:
    mx.Explainer(synthetic.model, data, candidates=mx.Neighbors(index="ivf"))
except ImportError as error:
    print(error)
"""


def test_without_faiss_all_rows_are_compared_and_one_warning_says_so():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    said, error = done.stdout.strip().splitlines()
    assert said.count("pip install macex[ann]") == 1
    assert said.endswith("None 1.0")
    assert error == "faiss is not installed: pip install macex[ann]"


def test_a_model_that_always_says_yes_has_one_label_to_index(monkeypatch):
    monkeypatch.setattr(approximate, "EXACT", 1000)
    data = DATA.head(4000)
    explainer = mx.Explainer(lambda frame: np.ones(len(frame)), data, classes=("no", "yes"))
    assert explainer.neighbors_recall >= 0.99
    assert {one.status for one in explainer.explain(ASKED.head(3))} <= {"none", "not_found"}


@pytest.mark.slow
def test_an_index_is_chosen_by_the_number_of_rows_that_meet_a_goal():
    data = synthetic.table(300_000)
    explainer = mx.Explainer(synthetic.model, data, classes=("no", "yes"))
    assert explainer.neighbors_recall >= 0.99
    kept = explainer.engine.fitted
    assert (kept.answers.decision == 0).sum() > approximate.EXACT
    found = explainer.explain(data.head(100))
    assert found.metrics()["validity"] == 1
    assert explainer.explain(data.iloc[[3]])[0].counterfactuals[0].changes == (
        found[3].counterfactuals[0].changes
    )
