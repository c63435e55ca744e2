"""Answers keep what training rows never break, and what hangs on a change follows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.structure import Order, Structure


def customers(n: int = 1500, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    line = draw.choice(["dsl", "fibre", "none"], n, p=[0.35, 0.45, 0.2])
    months, price = draw.integers(1, 72, n), draw.uniform(18, 118, n).round(2)
    rows = pd.DataFrame({"line": line, "months": months, "price": price})
    for name in ("security", "backup"):
        extra = draw.choice(["yes", "no"], n)
        rows[name] = np.where(line == "none", "no internet", extra)
    plan = draw.integers(0, 4, n)
    rows["plan"], rows["level"] = [f"plan {k}" for k in plan], plan * 3
    rows["total"] = (months * price * np.exp(draw.normal(0, 0.01, n))).round(2)
    return rows


ROWS = customers()


def score(rows: pd.DataFrame) -> np.ndarray:
    points = 1.5 - rows["total"] / 4000 + (rows["line"] == "fibre") - 0.2 * rows["level"]
    points = points - 0.7 * (rows["security"] == "yes") + 0.3 * (rows["backup"] == "no internet")
    return (1 / (1 + np.exp(-3 * points))).to_numpy()


def keeper(**options: object) -> mx.Explainer:
    return mx.Explainer(
        score, ROWS, classes=("stays", "leaves"), **{"structure": "keep", **options}
    )


def explained(wish: dict | None = None, n: int = 3, **options: object) -> mx.Explanations:
    explainer = keeper(**options)
    return explainer.explain(ROWS.head(60), n=n, constraints=wish)


@pytest.fixture(scope="module")
def kept() -> mx.Explanations:
    return explained()


def answers(found: mx.Explanations) -> pd.DataFrame:
    table = found.to_frame()
    return table[(table["cf.rank"] > 0) & (table["cf.sparsity"] > 0)]


def broken(rows: pd.DataFrame) -> dict[str, int]:
    """How many rows break each relation, written by hand."""
    offline = {name: rows[name] == "no internet" for name in ("security", "backup")}
    level = rows["plan"].str.removeprefix("plan ").astype(int) * 3
    made = rows["months"] * rows["price"]
    return {
        "total": int(((rows["total"] - made).abs() > 0.05 * made.clip(rows["total"])).sum()),
        "level": int((rows["level"] != level).sum()),
        **{name: int((off != (rows["line"] == "none")).sum()) for name, off in offline.items()},
    }


def test_no_answer_breaks_what_its_query_keeps(kept):
    table = answers(kept)
    assert len(table) > 60
    assert sum(broken(table).values()) == 0
    assert sum(broken(answers(explained(structure="ignore"))).values()) > 10


def test_dependents_follow_and_count_as_no_change(kept):
    followed = set()
    for one in kept:
        for answer in one.counterfactuals:
            assert answer.sparsity == len(answer.changes)
            changed = {change.column for change in answer.changes}
            assert not changed & {"total", "level"}
            followed |= {change.column for change in answer.consequences}
            if "plan" in changed:
                assert "level" in {change.column for change in answer.consequences}
    assert {"total", "level"} <= followed


def test_one_value_brings_along_what_it_implies():
    found = explained({"only": ["line"], "allowed": {"line": ["none"]}}, n=1)
    said = [
        {change.column: change.after for change in answer.consequences}
        for one in found
        for answer in one.counterfactuals
        if answer.changes
    ]
    assert said
    assert all(one == {"security": "no internet", "backup": "no internet"} for one in said)


def test_the_total_stays_as_far_from_its_formula_as_it_was(kept):
    for one in kept:
        before = one.query.iloc[0]
        for answer in one.counterfactuals:
            after = answer.row.iloc[0]
            ratios = [row["total"] / (row["months"] * row["price"]) for row in (before, after)]
            assert ratios[0] == pytest.approx(ratios[1], rel=1e-3)


def test_a_query_that_breaks_the_structure_may_stay_broken_and_is_told():
    odd = ROWS.head(1).assign(total=5.0)
    explainer = keeper()
    (one,) = explainer.explain(odd)
    assert one.status == "found"
    assert one.notes == ("total = months * price, within 5 %: the row itself breaks it",)
    assert "the row itself breaks it" in repr(one)


def test_warnings_name_what_an_answer_breaks():
    found = explained(structure="warn")
    table = answers(found)
    told = [answer for one in found for answer in one.counterfactuals if answer.breaks]
    assert told
    assert (
        len([a for a in told if any("total" in text for text in a.breaks)])
        == broken(table)["total"]
    )
    assert any("breaks: " in repr(one) for one in found)


def test_what_is_ignored_is_not_told():
    found = explained(structure="ignore")
    assert not any(answer.breaks for one in found for answer in one.counterfactuals)
    assert len(mx.Explainer(score, ROWS, classes=(0, 1), structure="ignore").structure) > 3


def test_relations_of_the_callers_own():
    found = explained(structure=[Order(columns=("level", "months"))], n=2)
    table, own = answers(found), ROWS.head(60)
    keeping = (own["level"] <= own["months"]).to_numpy()[table["cf.row"]]
    assert (table["level"] <= table["months"])[keeping].all()


@pytest.mark.parametrize(
    ("wish", "note"),
    [
        ({"derived": {"total": "months + price"}}, "the constraints compute total themselves"),
        ({"only": ["total"]}, "the constraints let total change alone"),
        (
            {"fixed": ["total"], "increase": ["months"]},
            "the constraints hold total and let months change",
        ),
    ],
)
def test_the_caller_wins_and_a_note_says_so(wish, note):
    (one,) = keeper().explain(ROWS.iloc[[3]], constraints=wish)
    assert one.notes == (f"total = months * price, within 5 % is not kept: {note}",)


def test_a_fixed_dependent_makes_a_rule_of_its_relation():
    found = explained({"fixed": ["level", "line"]}, n=2)
    table = answers(found)
    assert (table["level"].to_numpy() == ROWS["level"].head(60).to_numpy()[table["cf.row"]]).all()
    assert sum(broken(table).values()) == 0


@pytest.mark.parametrize(
    ("wish", "fits"),
    [
        ({"decrease": ["total"]}, lambda old, new: new <= old),
        ({"ranges": {"total": (500, 3000)}}, lambda _, new: (new >= 500) & (new <= 3000)),
        ({"allowed": {"level": [0, 9]}}, lambda _, new: np.isin(new, [0, 9])),
    ],
)
def test_a_dependent_follows_as_far_as_the_caller_lets_it(wish, fits):
    """It is a consequence still, and no change of its own; what it becomes is what is allowed."""
    ((_, said),) = wish.items()
    (column,) = said
    followed = 0
    for one in explained(wish):
        for answer in one.counterfactuals:
            assert column not in {change.column for change in answer.changes}
            for change in answer.consequences:
                if change.column == column:
                    assert fits(change.before, change.after)
                    followed += 1
    assert followed > 10
    assert sum(broken(answers(explained(wish))).values()) == 0


def test_a_dependent_that_may_go_less_far_costs_no_second_change():
    free = [one.counterfactuals[0].sparsity for one in explained(n=1)]
    bound = [one.counterfactuals[0].sparsity for one in explained({"ranges": {"total": (0, 9000)}})]
    assert bound == free


def test_of_columns_that_determine_each_other_the_one_that_may_change_leads():
    found = explained({"only": ["level", "price"]}, n=1)
    said = [
        ({c.column for c in answer.changes}, {c.column for c in answer.consequences})
        for one in found
        for answer in one.counterfactuals
    ]
    assert not any(one.notes for one in found)
    assert sum("level" in changes and "plan" in follows for changes, follows in said) > 5
    assert not any("plan" in changes for changes, _ in said)
    assert sum(broken(answers(found)).values()) == 0


def test_of_a_number_in_two_units_either_may_lead():
    draw = np.random.default_rng(0)
    cm = draw.integers(150, 200, 400)
    rows = pd.DataFrame(
        {"cm": cm, "inches": (cm / 2.54).round(2), "age": draw.integers(20, 60, 400)}
    )

    def tall(table: pd.DataFrame) -> np.ndarray:
        return (1 / (1 + np.exp(175 - table["cm"]))).to_numpy()

    explainer = mx.Explainer(tall, rows, classes=("no", "yes"))
    for one in explainer.explain(rows[:20], constraints={"only": ["inches"]}):
        (answer,) = one.counterfactuals
        assert [change.column for change in answer.consequences] == ["cm"]
        after = answer.row.iloc[0]
        assert after["inches"] == pytest.approx(after["cm"] / 2.54, abs=0.006)


def test_a_batch_changes_nothing(kept):
    explainer = keeper()
    for row in (0, 7, 21):
        (alone,) = explainer.explain(ROWS.iloc[[row]], n=3)
        assert alone.to_json(canonical=True) == kept[row].to_json(canonical=True)


def test_a_saved_explainer_keeps_the_same(kept, tmp_path):
    explainer = keeper()
    explainer.save(tmp_path / "plain.macex")
    again = mx.load(tmp_path / "plain.macex", score).explain(ROWS.head(60), n=3)
    assert again.to_json(canonical=True) == kept.to_json(canonical=True)
    explainer.save(tmp_path / "private.macex", private=True)
    private = mx.load(tmp_path / "private.macex", score).explain(ROWS.head(20), n=2)
    assert sum(broken(answers(private)).values()) == 0


def test_minimal_is_a_statement_about_rows_that_keep_the_structure():
    """All rows with one change, and what follows from it, by brute force."""
    explainer = keeper()
    found = explainer.explain(ROWS.head(40), constraints={"only": ["line", "security", "plan"]})
    for at, one in enumerate(found):
        for answer in one.counterfactuals:
            if answer.minimal and answer.sparsity == 2:
                assert not any(map(bool, singles(at)))


def singles(at: int) -> list[bool]:
    """Whether each single change of three columns, with what follows, flips the row."""
    query = ROWS.iloc[[at]]
    flips = []
    for column in ("line", "security", "plan"):
        for value in ROWS[column].unique():
            row = query.assign(**{column: value})
            if column == "line" and value == "none":
                row = row.assign(security="no internet", backup="no internet")
            if column == "security" and value == "no internet":
                row = row.assign(line="none", backup="no internet")
            if column == "plan":
                row = row.assign(level=int(value.removeprefix("plan ")) * 3)
            lawful = sum(broken(row).values()) == 0
            flips.append(lawful and (score(row)[0] > 0.5) != (score(query)[0] > 0.5))
    return flips


def test_a_relation_that_fits_no_column_is_refused():
    with pytest.raises(mx.MacexError, match="names no column 'mnths'; did you mean 'months'"):
        explained(structure=[Order(columns=("level", "mnths"))])
    with pytest.raises(mx.MacexError, match="needs continuous columns"):
        explained(structure=[Order(columns=("plan", "line"))])
    with pytest.raises(mx.MacexError, match="did you mean 'keep'"):
        explained(structure="kept")
    assert Structure.from_list([]) == Structure()


def ratios() -> pd.DataFrame:
    """A ratio that is written as 0 where it cannot be computed."""
    table = pd.DataFrame(
        {"income": np.arange(600) % 40 * 100, "debt": np.arange(600) % 50 * 100 + 100}
    )
    return table.assign(dti=np.where(table.income > 0, table.debt / table.income.clip(1), 0.0))


@pytest.mark.parametrize("how", ["structure", "derived"])
def test_no_change_makes_a_computed_column_missing(how):
    table = ratios()

    def model(rows: pd.DataFrame) -> np.ndarray:
        assert rows["dti"].notna().all()
        return 1 / (1 + np.exp(rows["dti"] * 2 - 1.5 + rows["income"] / 1500))

    options = {"structure": "keep"}
    if how == "derived":
        options = {"constraints": mx.Constraints(derived={"dti": "debt / income"})}
    explainer = mx.Explainer(model, table, classes=("no", "yes"), **options)
    found = explainer.explain(table[:40])
    assert sum(item.status == "found" for item in found) > 20
    for item in found:
        assert all(
            one.row["income"].iloc[0] > 0 or "income" not in {c.column for c in one.changes}
            for one in item.counterfactuals
        )


@pytest.mark.parametrize("dtype", ["int8", "Int8", "uint8", "float16"])
@pytest.mark.parametrize("how", ["structure", "derived"])
def test_no_computed_value_is_more_than_its_dtype_can_hold(dtype, how):
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.integers(1, 30, (3000, 2)), columns=["a", "b"])
    table = table[table.a * table.b <= 100].reset_index(drop=True)
    table["total"] = (table.a * table.b).astype(dtype)

    def model(rows: pd.DataFrame) -> np.ndarray:
        points = rows["total"].astype(float) * 0.05 - 9 + 0.3 * rows["a"]
        return 1 / (1 + np.exp(-points.to_numpy(float)))

    wish = mx.Constraints(derived={"total": "a * b"}) if how == "derived" else None
    explainer = mx.Explainer(model, table, classes=("no", "yes"), constraints=wish)
    found = explainer.explain(table[model(table) < 0.5].tail(30), n=2)
    rows = [answer.row.iloc[0] for one in found for answer in one.counterfactuals]
    assert len(rows) > 20
    assert all(float(row["total"]) == float(row["a"]) * float(row["b"]) for row in rows)


def test_a_row_that_divides_by_zero_supports_nothing():
    table = ratios()
    (ratio,) = mx.Explainer(lambda rows: rows["dti"] / 9, table, classes=("a", "b")).structure
    assert (ratio.support, ratio.exceptions) == (int((table.income > 0).sum()), 0)


def halls(n: int = 600) -> pd.DataFrame:
    """Numbers that decide together, and two columns that a relation joins."""
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({f"x{k}": draw.integers(0, 60, n) for k in range(6)})
    rows["kind"] = draw.choice(["p", "q", "r"], n)
    rows["use"] = np.where(rows["kind"] == "p", "u", draw.choice(["u", "v"], n))
    return rows


@pytest.mark.parametrize("count", [1, 3])
def test_a_relation_that_no_change_can_break_changes_no_answer_and_costs_no_row(count):
    rows, fixed = halls(), mx.Constraints(fixed=["kind", "use"])

    def full(t: pd.DataFrame) -> np.ndarray:
        least = np.minimum(t["x0"] + 0.2 * t["x2"], t["x1"] + 0.1 * t["x3"]) + 0.1 * t["x4"]
        return (1 / (1 + np.exp(-12 * (least / 60 - 0.95)))).to_numpy()

    def found(structure: str) -> mx.Explanations:
        explainer = mx.Explainer(full, rows, classes=("no", "yes"), structure=structure)
        assert len(explainer.structure) == 1
        return explainer.explain(rows[:40], n=count, constraints=fixed)

    kept, free = found("keep"), found("ignore")
    assert kept.to_json(canonical=True) == free.to_json(canonical=True)
    assert [item.cost.rows for item in kept] == [item.cost.rows for item in free]
