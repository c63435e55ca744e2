"""The structure of an explainer: a list that can be looked at, saved, and says no training row."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.errors import ConstraintError
from macex.schema import Schema
from macex.structure import Determination, Order, Structure, find_structure


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    place = draw.integers(0, 40, 1000)
    net = draw.normal(100, 20, 1000).round(1)
    rows = pd.DataFrame({"zip": place.astype(str), "city": (place // 10).astype(str), "net": net})
    rows["gross"] = (net + draw.exponential(9, 1000)).round(1)
    rows.loc[0, ["zip", "city"]] = ["lonely", "3"]
    return rows


@pytest.fixture(scope="module")
def explainer(rows: pd.DataFrame) -> mx.Explainer:
    return mx.Explainer(model, rows, classes=("no", "yes"))


def model(rows: pd.DataFrame) -> pd.Series:
    return (rows["gross"] > 120).astype(float)


def test_an_explainer_lists_what_holds(explainer):
    assert [relation.text for relation in explainer.structure] == [
        "zip determines city",
        "net <= gross",
    ]


def test_it_prints_in_a_terminal_and_in_a_notebook(explainer):
    assert "zip determines city  1,000 rows  no exceptions" in repr(explainer.structure)
    assert "<td>net &lt;= gross</td>" in explainer.structure._repr_html_()
    assert repr(Structure()) == "no relations in the training rows"


def test_json_keeps_it(explainer):
    stored = json.loads(json.dumps(explainer.structure.to_list()))
    assert Structure.from_list(stored) == explainer.structure


def test_a_saved_explainer_carries_it(explainer, tmp_path):
    explainer.save(tmp_path / "e.macex")
    assert mx.load(tmp_path / "e.macex", model).structure == explainer.structure


def test_a_private_one_holds_no_row(explainer, tmp_path):
    explainer.save(tmp_path / "e.macex", private=True)
    kept = mx.load(tmp_path / "e.macex", model).structure
    assert [relation.text for relation in kept] == [r.text for r in explainer.structure]
    assert {relation.example for relation in kept} == {None}
    (places,) = (relation for relation in kept if isinstance(relation, Determination))
    assert ("7", "0") in places.pairs
    assert "lonely" not in dict(places.pairs)


def test_relations_of_some_columns(explainer):
    assert [relation.kind for relation in explainer.structure.about("net")] == ["order"]


def test_all_training_rows_are_looked_at_however_few_are_kept(rows):
    small = mx.Explainer(model, rows, classes=("no", "yes"), sample=30)
    assert next(r for r in small.structure if isinstance(r, Order)).support == 1000


def test_what_is_no_list_of_relations_is_refused():
    with pytest.raises(ConstraintError, match="a list of relations"):
        Structure.from_list("keep")


def found(rows: pd.DataFrame, schema: object = None) -> Structure:
    known = Schema.infer(rows, schema)
    return find_structure(known, known.read(rows).codes)


def texts(rows: pd.DataFrame, schema: object = None) -> set[str]:
    return {relation.text for relation in found(rows, schema)}


def customers(n: int = 2000, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    line = draw.choice(["dsl", "fibre", "none"], n, p=[0.35, 0.45, 0.2])
    months, price = draw.integers(1, 72, n), draw.uniform(18, 118, n).round(2)
    extras = {
        name: np.where(line == "none", "no internet", draw.choice(["yes", "no"], n))
        for name in ("security", "backup")
    }
    total = (months * price * np.exp(draw.normal(0, 0.02, n))).round(2)
    return pd.DataFrame({"line": line, **extras, "months": months, "price": price, "total": total})


def test_a_value_implies_another_and_the_rest_follows_from_it():
    assert texts(customers()) == {
        "total = months * price, within 20 %",
        "if line == 'none' then security == 'no internet'",
        "if line == 'none' then backup == 'no internet'",
        "if security == 'no internet' then line == 'none'",
        "if backup == 'no internet' then line == 'none'",
    }


def test_support_exceptions_and_an_example_are_counted():
    rows = customers()
    relation = next(r for r in found(rows) if r.columns == ("line", "security"))
    assert relation.support == (rows.line == "none").sum()
    assert relation.exceptions == 0
    assert relation.example == ("none", "no internet")


def test_a_few_exceptions_are_told():
    rows = customers(20_000)
    rows.loc[rows.index[rows.line == "none"][:2], "security"] = "yes"
    relation = next(r for r in found(rows) if r.columns == ("line", "security"))
    assert relation.exceptions == 2
    assert not relation.exceptionless


def test_many_exceptions_are_no_relation():
    rows = customers()
    rows.loc[rows.index[rows.line == "none"][:20], "security"] = "yes"
    assert "if line == 'none' then security == 'no internet'" not in texts(rows)


def test_values_that_never_meet_exclude_each_other():
    draw = np.random.default_rng(1)
    marital = draw.choice(["single", "married", "divorced"], 3000)
    role = draw.choice(["husband", "wife", "own child"], 3000)
    role = np.where((marital != "married") & (role != "own child"), "alone", role)
    assert "if role == 'own child' then marital != 'x'" not in texts(
        pd.DataFrame({"marital": marital, "role": role})
    )
    assert {
        "if role == 'husband' then marital == 'married'",
        "if role == 'wife' then marital == 'married'",
        "if marital == 'married' then role != 'alone'",
    } <= texts(pd.DataFrame({"marital": marital, "role": role}))


def test_columns_that_determine_each_other():
    draw = np.random.default_rng(2)
    edu = draw.integers(0, 8, 1000)
    rows = pd.DataFrame({"edu": [f"e{k}" for k in edu], "years": edu + 4})
    (relation,) = found(rows)
    assert relation.text == "edu and years determine each other"
    assert dict(relation.pairs)["e3"] == 7


def test_a_finer_column_determines_a_coarser_one_and_not_the_other_way():
    draw = np.random.default_rng(3)
    place = draw.integers(0, 2000, 10_000)
    rows = pd.DataFrame({"zip": place.astype(str), "city": (place // 100).astype(str)})
    assert texts(rows) == {"zip determines city"}


def test_a_number_determines_by_its_ranges_only():
    age = np.random.default_rng(3).integers(18, 78, 1000)
    rows = pd.DataFrame({"age": age, "group": np.where(age < 40, "young", "grown")})
    assert texts(rows) == {"age determines group"}
    rows["group"] = np.where(age % 2, "odd", "even")
    assert texts(rows) == set()


def test_what_follows_from_two_others_is_not_listed():
    draw = np.random.default_rng(3)
    place = draw.integers(0, 500, 5000)
    rows = pd.DataFrame(
        {
            "zip": place.astype(str),
            "city": (place // 10).astype(str),
            "land": (place // 100).astype(str),
        }
    )
    assert texts(rows) == {"zip determines city", "city determines land"}


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda a, b: a + b, "c = a + b"),
        (lambda a, b: a - b, "c = a - b"),
        (lambda a, b: a * b, "c = a * b"),
        (lambda a, b: a / b, "c = a / b"),
        (lambda a, b: (a / b).round(2), "c = a / b"),
    ],
)
def test_formulas(made, text):
    draw = np.random.default_rng(4)
    a, b = draw.integers(1, 90, 400).astype(float), draw.integers(1, 40, 400).astype(float)
    rows = pd.DataFrame({"a": a, "b": b, "c": made(pd.Series(a), pd.Series(b))})
    assert text in texts(rows)


def test_the_column_that_stands_last_is_the_one_that_is_computed():
    draw = np.random.default_rng(4)
    cost, profit = draw.uniform(1, 90, 400).round(1), draw.uniform(1, 40, 400).round(1)
    rows = pd.DataFrame({"revenue": (cost + profit).round(1), "cost": cost, "profit": profit})
    assert "profit = revenue - cost" in texts(rows)


def test_another_unit_of_the_same_number():
    draw = np.random.default_rng(5)
    cm = draw.normal(170, 10, 500).round(0)
    assert texts(pd.DataFrame({"cm": cm, "inches": (cm / 2.54).round(2)})) >= {
        "inches = 0.3937 * cm"
    }


def test_order_of_numbers_and_of_moments():
    draw = np.random.default_rng(6)
    net = draw.normal(100, 20, 500).round(1)
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 300, 500), unit="D")
    rows = pd.DataFrame({"net": net, "gross": (net + draw.exponential(9, 500)).round(1)})
    rows["start"], rows["end"] = start, start + pd.to_timedelta(draw.integers(0, 90, 500), unit="D")
    assert {"net <= gross", "start <= end"} <= texts(rows)


def test_an_order_that_the_ranges_alone_give_is_no_news():
    draw = np.random.default_rng(6)
    rows = pd.DataFrame({"small": draw.uniform(0, 1, 500), "large": draw.uniform(5, 9, 500)})
    assert texts(rows) == set()


def test_columns_that_are_missing_together():
    draw = np.random.default_rng(7)
    rows = pd.DataFrame(draw.normal(size=(1000, 3)), columns=["x", "y", "z"])
    rows.loc[draw.random(1000) < 0.2, ["x", "y"]] = np.nan
    assert texts(rows) == {"x and y are missing together"}


def test_flags_of_which_exactly_one_is_set():
    colour = np.random.default_rng(8).integers(0, 3, 500)
    rows = pd.DataFrame({name: (colour == k).astype(int) for k, name in enumerate("rgb")})
    assert texts(rows, {"r": "continuous"}) == {
        "exactly one of r, g and b is 1",
        "r is 0 or 1",
        "g is 0 or 1",
        "b is 0 or 1",
    }


def test_an_answer_of_no_days_is_a_level_of_a_number():
    draw = np.random.default_rng(9)
    known = draw.random(3000) < 0.3
    rows = pd.DataFrame(
        {
            "outcome": np.where(known, draw.choice(["yes", "no"], 3000), "unknown"),
            "days": np.where(known, draw.integers(1, 400, 3000), -1),
        }
    )
    assert {
        "if outcome == 'unknown' then days == -1",
        "if days == -1 then outcome == 'unknown'",
    } <= texts(rows)


def test_the_same_rows_in_another_order_have_the_same_structure():
    rows = customers()
    assert texts(rows) == texts(rows.sample(frac=1, random_state=3).reset_index(drop=True))


def independent(seed: int) -> pd.DataFrame:
    """A table of independent columns: skewed categories, an id, a constant, flags, gaps."""
    draw = np.random.default_rng(seed)
    n = int(draw.choice([20, 60, 200, 1000, 4000]))
    rows = pd.DataFrame({"id": draw.permutation(n), "constant": np.ones(n)})
    for k in range(3):
        rows[f"number{k}"] = draw.normal(draw.choice([0, 1, 100]), 1, n)
        rows[f"whole{k}"] = draw.integers(0, draw.integers(2, 40), n)
        rows[f"money{k}"] = draw.lognormal(3, 1, n).round(2)
        share = draw.dirichlet(np.full(12, 0.3))
        rows[f"category{k}"] = draw.choice(list("abcdefghijkl"), n, p=share)
        rows[f"flag{k}"] = (draw.random(n) < draw.uniform(0.01, 0.99)).astype(int)
        rows.loc[draw.random(n) < 0.1, f"money{k}"] = np.nan
    rows["name"] = [f"n{k}" for k in draw.integers(0, max(2, n // 2), n)]
    return rows


def test_independent_columns_have_no_structure():
    """Of 200 tables none may show a relation; one in a hundred is the most that is promised."""
    wrong = {
        seed: [relation.text for relation in structure if relation.kind != "flag"]
        for seed in range(200)
        for structure in [found(independent(seed))]
    }
    assert {seed: relations for seed, relations in wrong.items() if relations} == {}


def test_shuffled_columns_lose_their_structure():
    for seed in range(20):
        draw = np.random.default_rng(seed)
        rows = customers(seed=seed).apply(lambda column: draw.permutation(column.to_numpy()))  # noqa: B023
        assert texts(rows) == set()


def test_twenty_rows_say_nothing():
    assert texts(customers(20)) == set()


def test_a_column_of_ids_determines_nothing():
    rows = customers(1000)
    rows.insert(0, "id", [f"c{k}" for k in range(1000)])
    assert not found(rows).about("id")


def test_the_work_is_bounded_in_columns_and_categories():
    draw = np.random.default_rng(0)
    wide = pd.DataFrame(draw.normal(size=(300, 400)), columns=[f"c{k}" for k in range(400)])
    many = pd.DataFrame({"a": draw.integers(0, 10_000, 20_000).astype(str)})
    many["b"] = draw.integers(0, 10_000, 20_000).astype(str)
    assert texts(wide) == texts(many) == set()


def test_columns_that_are_all_missing_or_all_alike():
    rows = pd.DataFrame({"gone": [np.nan] * 100, "same": [1.0] * 100, "x": range(100)})
    assert texts(rows) == set()
