"""Causes as people state them: what is written is read again, and contradictions are errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

import macex as mx
from macex.causes import Causes
from macex.causes.causes import read_causes
from macex.errors import ConstraintError, ExpressionError
from macex.explainer.variants import caused, variant

EDGES = {"income": ["education", "age"], "savings": ["income"]}
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RNG.integers(20, 65, 200),
        "education": RNG.integers(8, 20, 200),
        "income": RNG.normal(30, 5, 200).round(1),
        "savings": RNG.normal(10, 2, 200).round(1),
        "job": RNG.choice(["clerk", "baker"], 200),
    }
)


def model(rows):
    return 1 / (1 + np.exp(10 - rows["savings"].to_numpy()))


class Broken(BaseEstimator):
    """An estimator that fails where it is told to, or answers with what it is told."""

    def __init__(self, verb="", answer=None):
        self.verb, self.answer = verb, answer

    def fit(self, table, values):
        return self._done("fit", self, len(table), values)

    def predict(self, table):
        return self._done("predict", self.answer, len(table))

    def predict_proba(self, table):
        return self._done("predict_proba", self.answer, len(table))

    def _done(self, verb, answer, count, values=()):
        if verb == self.verb:
            raise RuntimeError("no more")
        self.classes_ = np.unique(values) if verb == "fit" else self.classes_
        return answer if verb == "fit" else np.full((count, answer[0]), answer[1])


def explainer(causes, **options):
    return mx.Explainer(model, X, classes=("no", "yes"), causes=causes, **options)


def test_what_is_written_is_read_again():
    causes = Causes(EDGES, {"savings": "0.3 * income + own", "income": "trees"}, noise="own")
    assert read_causes(causes.to_dict()) == Causes.from_dict(causes.to_dict()) == causes
    assert read_causes(EDGES) == Causes(EDGES)


def test_an_expression_alone_states_its_causes():
    causes = Causes(mechanisms={"savings": "0.3 * income + u", "income": "age + u"})
    assert causes.edges == {"income": ("age",), "savings": ("income",)}
    assert causes.effects_of("age") == ("income", "savings")
    assert causes.columns == {"age", "income", "savings"}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Causes, "at least one edge"),
        (lambda: Causes({"a": ["b"], "b": ["a"]}), "in a circle"),
        (lambda: Causes(mechanisms={"a": "b + u", "b": "a + u"}), "in a circle"),
        (lambda: Causes({"a": ["b"]}, {"a": "c + u"}), "reads 'c', which is none of its causes"),
        (lambda: Causes({"a": ["b"]}, {"a": "old(b) + u"}), "cannot read old values"),
        (lambda: Causes({"a": ["b"]}, {"a": "b +"}), "expected a column"),
        (lambda: Causes({"a": ["b"]}, {"c": "linear"}), "but no causes"),
        (lambda: Causes(mechanisms={"a": "3 + u"}), "reads no cause"),
        (lambda: Causes({"a": ["b"]}, {"a": "liner"}), "did you mean 'linear'"),
        (lambda: Causes({"a": ["b"]}, ["a"]), "takes a mapping"),
        (lambda: Causes({"a": ["b"]}, effects="own"), "effects='own'"),
        (lambda: Causes({"a": ["b"]}, noise="a b"), "noise is a name"),
        (lambda: Causes.from_dict({"edge": {}}), "no part 'edge'"),
        (lambda: Causes.from_dict([]), "a table with edges"),
        (lambda: Causes({"a": ["b"]}, {"a": object()}).to_dict(), "cannot be written down"),
    ],
)
def test_what_contradicts_itself_is_an_error(made, said):
    with pytest.raises((ConstraintError, ExpressionError), match=said):
        made()


@pytest.mark.parametrize(
    ("causes", "said"),
    [
        ({"incme": ["age"]}, "no column 'incme'; did you mean 'income'"),
        (Causes({"income": ["age", "job"]}, {"income": "age * job"}), "expected a number"),
        (Causes({"income": ["age"]}, {"income": "table"}), "is a number"),
        (Causes({"income": ["age"]}, {"income": object()}), "must be an expression"),
        (Causes({"job": ["age"]}, {"job": "linear"}), "is no number"),
        (Causes({"job": ["age"]}, {"job": "table"}), "too many combinations"),
        (Causes({"job": ["age"]}, {"job": object()}), "must be an expression, 'table'"),
        (Causes({"income": ["age"]}, {"income": "age * (u + u)"}), "cannot be solved"),
        (Causes({"income": ["age"]}, {"income": "floor(age + u)"}), "cannot be solved"),
        (Causes(mechanisms={"income": "age + u"}, noise="v"), "no column 'u'"),
        (Causes(mechanisms={"income": "u / (age - age)"}), "has a value for no training row"),
        (Causes(mechanisms={"income": "log(age - 100)"}), "has a value for no training row"),
        (Causes(mechanisms={"income": "log(age - 100) + u"}), "has a value for no training row"),
        (7, "takes a mapping"),
    ],
)
def test_causes_that_do_not_fit_the_rows_are_errors(causes, said):
    with pytest.raises(ConstraintError, match=said):
        explainer(causes)


@pytest.mark.parametrize(
    ("column", "mechanism", "said"),
    [
        ("income", Broken("fit"), "Broken could not be fitted: no more"),
        ("income", Broken("predict"), "Broken failed in predict: no more"),
        ("income", Broken(answer=(1, np.nan)), "200 that are not finite"),
        ("income", Broken(answer=(2, 1.0)), "200 x 1 finite numbers"),
        ("job", Broken("fit"), "Broken could not be fitted: no more"),
        ("job", Broken("predict_proba"), "Broken failed in predict_proba: no more"),
        ("job", Broken(answer=(2, np.inf)), "that are not finite"),
        ("job", Broken(answer=(3, 1.0)), "x 2 finite numbers"),
    ],
)
def test_a_mechanism_that_fails_is_named(column, mechanism, said):
    causes = Causes({column: ["age"]}, {column: mechanism})
    with pytest.raises(ConstraintError, match=f"the mechanism .*{said}"):
        explainer(causes).what_if(X.iloc[[0]], age=21 if X["age"][0] != 21 else 22)


def test_a_column_with_the_name_of_the_noise_is_an_error():
    rows = X.rename(columns={"age": "u"})
    causes = Causes({"income": ["education"]}, {"income": "education + u"})
    with pytest.raises(ConstraintError, match="give the noise another name"):
        mx.Explainer(model, rows, classes=("no", "yes"), causes=causes)
    other = Causes(mechanisms={"income": "education + u + own"}, noise="own")
    assert mx.Explainer(model, rows, classes=("no", "yes"), causes=other).explain(rows.head(2))


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"derived": {"income": "age + 1"}}, "is derived and has causes"),
        ({"groups": [["income", "job"]]}, "cannot be in the group"),
        ({"derived": {"age": "savings + 20"}}, "with derived columns, causes go in a circle"),
    ],
)
def test_constraints_that_contradict_causes_are_errors(constraints, said):
    with pytest.raises(ConstraintError, match=said):
        explainer(EDGES, constraints=constraints)
    with pytest.raises(ConstraintError, match=said):
        explainer(EDGES).explain(X.head(1), constraints=constraints)


def test_too_few_rows_to_fit_is_an_error():
    rows = X.copy()
    rows.loc[5:, "income"] = np.nan
    with pytest.raises(ConstraintError, match="only 5 training rows know 'income'"):
        mx.Explainer(model, rows, classes=("no", "yes"), causes={"income": ["age"]})


def test_what_follows_in_a_what_if_is_refused_where_the_dtype_cannot_hold_it():
    rows = pd.DataFrame({"hours": [1, 2] * 30, "pay": [100, 200] * 30}).astype({"pay": "uint8"})
    explainer = mx.Explainer(
        lambda frame: frame["pay"] / 300,
        rows,
        classes=("no", "yes"),
        causes=mx.Causes({"pay": ["hours"]}, {"pay": "100 * hours + u"}),
    )
    with pytest.raises(mx.SchemaError, match="'pay' would follow as 300, which uint8"):
        explainer.what_if(rows.iloc[[0]], hours=3)
    assert explainer.what_if(rows.iloc[[0]], hours=3, pay=250).changes[1].after == 250


def test_what_follows_in_a_what_if_is_refused_where_its_mechanism_has_no_value():
    rows = pd.DataFrame({"hours": [1, 2] * 30, "rate": [120.0, 60.0] * 30})
    explainer = mx.Explainer(
        lambda frame: frame["rate"] / 300,
        rows,
        classes=("no", "yes"),
        causes=mx.Causes({"rate": ["hours"]}, {"rate": "120 / hours + u"}),
    )
    assert explainer.what_if(rows.iloc[[0]], hours=3).consequences[0].after == 40
    with pytest.raises(
        mx.SchemaError, match=r"'rate' would follow as '120 / hours \+ u', which has no"
    ):
        explainer.what_if(rows.iloc[[0]], hours=0)
    assert explainer.what_if(rows.iloc[[0]], hours=0, rate=9).consequences == ()
    typed = variant(explainer.schema.read(rows.iloc[[0]]), "a", {"hours": "0"})
    assert (
        "has no value here"
        in caused(explainer, explainer.schema.read(rows.iloc[[0]]), typed).faults["rate"]
    )
