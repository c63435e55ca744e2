"""Laws of the expression language: it means what it says, and nothing it is given can break it."""

from __future__ import annotations

import math
import pickle
import re
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.ask.expressions import compile_formula, compile_rule, parse, topological
from macex.errors import ConstraintError, ExpressionError, SchemaError, closest
from macex.schema import MISSING, UNKNOWN, Schema
from macex.schema.moments import Clock


@dataclass(frozen=True)
class Known:
    """A column that knows its values."""

    name: str
    kind: str = "continuous"
    table: tuple[object, ...] = ()
    origin: str = "2024-01-01"

    @property
    def clock(self) -> Clock:
        origin = int(np.datetime64(self.origin, "us").astype(np.int64))
        return Clock(np.dtype("M8[us]"), origin, np.zeros(0), np.zeros(0, np.int64))

    def code(self, value: object) -> float:
        if isinstance(value, datetime):
            return (value - datetime.fromisoformat(self.origin)).total_seconds()
        if value not in self.table:
            raise SchemaError(f"{self.name!r} never holds {value!r}{closest(value, self.table)}")
        return float(self.table.index(value))


COLUMNS = (
    Known("a"),
    Known("b"),
    Known("c"),
    Known("edu", "categorical", ("BSc", "MSc", "PhD")),
    Known("marital status", "categorical", ("Married", "Single")),
    Known("grade", "ordered", ("low", "mid", "high")),
    Known("smoker", "categorical", (False, True)),
    Known("start", "datetime"),
    Known("end", "datetime", origin="2024-02-01"),
)
NAMES = [column.name for column in COLUMNS]
day = datetime.fromisoformat


def rows(count: int = 1, **cells: object) -> np.ndarray:
    """Rows of zeros (the first value of each column) with some cells set to values or codes."""
    codes = np.zeros((count, len(COLUMNS)))  # (row, column)
    for name, value in cells.items():
        at = NAMES.index(name)
        column = COLUMNS[at]
        known = column.kind != "continuous" and isinstance(value, str | bool | datetime)
        codes[:, at] = column.code(value) if known else value
    return codes


def holds(text: str, new: np.ndarray, old: np.ndarray | None = None) -> bool:
    return bool(compile_rule(text, COLUMNS)(new, new if old is None else old)[0])


def value(text: str, new: np.ndarray, old: np.ndarray | None = None) -> float:
    return float(compile_formula(text, COLUMNS)(new, new if old is None else old)[0])


def refusal(text: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        compile_rule(text, COLUMNS)
    return str(caught.value)


# --- numbers -----------------------------------------------------------------------------------

numbers = st.sampled_from(["a", "b", "c", "0", "1", "2.5", "1e1", ".5"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from([" + ", "-", " * ", "/"]), inner).map("".join),
        inner.map("-{}".format),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from(["0", "2", "3", "-1"])).map("({0[0]}) ** {0[1]}".format),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(
            "{0[0]}({0[1]}, {0[2]})".format
        ),
        inner.map("abs({})".format),
        inner.map("sqrt({})".format),
    )


arithmetic = st.recursive(numbers, joined, max_leaves=8)
small = st.integers(-3, 3).map(float)


def python(text: str, a: float, b: float, c: float) -> float | None:
    """What Python makes of the same text; None where it refuses."""
    names = {"a": a, "b": b, "c": c, "abs": abs, "min": min, "max": max, "sqrt": math.sqrt}
    try:
        result = eval(text, {"__builtins__": {}}, names)  # noqa: S307
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


@settings(max_examples=200, deadline=None)
@given(text=arithmetic, a=small, b=small, c=small)
def test_numbers_mean_what_they_mean_in_python(text: str, a: float, b: float, c: float) -> None:
    expected = python(text, a, b, c)
    found = value(text, rows(a=a, b=b, c=c))
    if expected is None:
        assert found == MISSING
    else:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


relations = st.sampled_from([" < ", " <= ", ">", ">=", " == ", "!="])
comparisons = st.lists(st.tuples(relations, numbers), min_size=1, max_size=3).map(
    lambda chain: "".join(sign + number for sign, number in chain)
)
conditions = st.recursive(
    st.tuples(numbers, comparisons).map("".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join),
        inner.map("not {}".format),
        inner.map("({})".format),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(text=conditions, a=small, b=small, c=small)
def test_conditions_mean_what_they_mean_in_python(text: str, a: float, b: float, c: float) -> None:
    assert holds(text, rows(a=a, b=b, c=c)) == python(text, a, b, c)


def test_rounding_goes_to_the_nearest_and_halves_to_the_even() -> None:
    assert value("round(a)", rows(a=2.5)) == 2
    assert value("round(a, 2)", rows(a=1.239)) == 1.24
    assert value("round(a, -1)", rows(a=147.0)) == 150
    assert value("floor(a) + ceil(a)", rows(a=-1.5)) == -3
    assert value("log(exp(a))", rows(a=3.0)) == pytest.approx(3)


@pytest.mark.parametrize(
    "text", ["1 / a", "log(a)", "log(a - 1)", "sqrt(a - 1)", "exp(b)", "b * 1e308", "a ** -1"]
)
def test_what_is_no_number_is_missing_and_warns_nobody(text: str) -> None:
    assert value(text, rows(a=0.0, b=1000.0)) == MISSING


@pytest.mark.parametrize("text", ["a + 1", "a * 0", "a ** 0", "1 ** a", "min(a, b)", "round(a)"])
def test_a_missing_number_makes_arithmetic_missing(text: str) -> None:
    assert value(text, rows(a=MISSING)) == MISSING


# --- missing values and three-valued logic -----------------------------------------------------


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_a_rule_about_something_missing_holds_and_so_does_its_opposite(sign: str) -> None:
    new = rows(a=MISSING)
    assert holds(f"a {sign} 5", new)
    assert holds(f"not a {sign} 5", new)


def test_unknown_follows_kleene() -> None:
    new = rows(a=MISSING, b=1.0)
    assert not holds("a > 0 and b > 1", new)  # false and unknown is false
    assert not holds("not (a > 0 or b == 1)", new)  # true or unknown is true
    assert not holds("if b == 1 then a > 0 and b == 2", new)
    assert not holds("if a > 0 then b == 2 else b == 3", new)  # both branches fail


def test_only_is_missing_asks_about_absence() -> None:
    new = rows(a=MISSING, edu=MISSING)
    assert holds("a is missing and edu is missing and b is not missing", new)
    assert not holds("a is not missing", new)
    assert not holds("not a is missing", new)
    assert holds("(b / b) is missing", rows(b=0.0))


def test_an_unknown_condition_gives_a_missing_value() -> None:
    text = "if a > 0 then 1 else 2"
    assert value(text, rows(a=MISSING)) == MISSING
    assert value(text, rows(a=1.0)) == 1
    assert value(text, rows(a=-1.0)) == 2


# --- columns -----------------------------------------------------------------------------------


def test_rules_see_the_query_through_old() -> None:
    text = "if edu != old(edu) then a >= old(a) + 2"
    old = rows(edu="BSc", a=30.0)
    assert holds(text, rows(edu="BSc", a=30.0), old)
    assert not holds(text, rows(edu="MSc", a=31.0), old)
    assert holds(text, rows(edu="MSc", a=32.0), old)


def test_categories_are_compared_by_value() -> None:
    new = rows(**{"edu": "PhD", "marital status": "Single"})
    assert holds("edu in ('MSc', 'PhD')", new)
    assert not holds("edu not in ('MSc', \"PhD\")", new)
    assert holds("`marital status` == 'Single' and 'PhD' == edu", new)
    assert not holds("edu != 'PhD'", new)
    assert holds("(if edu == 'PhD' then 'Single' else 'Married') == `marital status`", new)


def test_a_category_never_seen_differs_from_all_values_and_has_no_rank() -> None:
    new = rows(edu=UNKNOWN, grade=UNKNOWN)
    assert not holds("edu == 'MSc'", new)
    assert not holds("edu in ('BSc', 'MSc', 'PhD')", new)
    assert holds("edu == old(edu) and edu is not missing", new)
    assert holds("grade < 'mid'", new)
    assert holds("grade >= 'mid'", new)


def test_ordered_values_have_their_order() -> None:
    assert holds("'low' < grade <= 'high'", rows(grade="mid"))
    assert not holds("grade >= old(grade)", rows(grade="low"), rows(grade="high"))


def test_a_column_of_true_and_false_is_a_condition() -> None:
    assert holds("not smoker or a < 30", rows(smoker=False, a=40.0))
    assert not holds("not smoker or a < 30", rows(smoker=True, a=40.0))
    assert holds("smoker == true and smoker in (true)", rows(smoker=True))
    assert holds("smoker", rows(smoker=MISSING))


def test_datetimes_are_compared_with_text_and_across_columns() -> None:
    new = rows(start=day("2024-01-31"), end=day("2024-02-10"))
    assert holds("start <= '2024-01-31'", new)
    assert not holds("start < '2024-01-31T00:00:00'", new)
    assert holds("start < end and end > start", new)
    assert value("end - start", new) == 10
    assert value("start - '2024-01-01'", new) == 30
    assert holds("start + 10 == end and end - 11 < start", new)
    assert holds("max(start, end) == end", new)


def test_a_formula_speaks_the_language_of_its_target() -> None:
    edu, smoker, end = COLUMNS[3], COLUMNS[6], COLUMNS[8]
    new = np.concatenate([rows(a=20.0), rows(a=50.0), rows(a=MISSING)])
    chosen = compile_formula("if a < 30 then 'BSc' else 'PhD'", COLUMNS, edu)
    assert chosen(new, new).tolist() == [0, 2, MISSING]
    flagged = compile_formula("a < 30", COLUMNS, smoker)
    assert flagged(new, new).tolist() == [1, 0, MISSING]
    shifted = compile_formula("start + 31", COLUMNS, end)
    assert shifted(new, new).tolist() == [0, 0, 0]
    with pytest.raises(ExpressionError, match="did you mean 'PhD'"):
        compile_formula("if a < 30 then 'BSc' else 'Phd'", COLUMNS, edu)


def test_constants_fill_all_rows() -> None:
    new = rows(3)
    assert compile_rule("1 < 2", COLUMNS)(new, new).tolist() == [True] * 3
    assert compile_formula("2 ** 3 ** 0", COLUMNS)(new, new).tolist() == [2.0] * 3


def test_one_old_row_serves_all_new_ones() -> None:
    new = np.concatenate([rows(a=1.0), rows(a=3.0)])
    assert compile_rule("a >= old(a)", COLUMNS)(new, rows(a=2.0)).tolist() == [False, True]


def test_the_columns_of_a_schema_are_known_by_their_values() -> None:
    frame = pd.DataFrame(
        {
            "pclass": pd.Categorical([1, 2, 3]),
            "alone": [True, False, True],
            "size": pd.Categorical(["s", "m", "m"], categories=["s", "m", "l"], ordered=True),
            "day": pd.to_datetime(["2024-01-01", "2024-03-01", "2024-03-02"]),
            "zoned": pd.to_datetime(["2024-01-01", "2024-03-01", "2024-03-02"]).tz_localize("UTC"),
            "fare": [7.25, None, 8.0],
        }
    )
    schema = Schema.infer(frame)
    codes = schema.read(frame).codes

    def kept(text: str) -> list[bool]:
        return compile_rule(text, schema.columns)(codes, codes).tolist()

    assert kept("pclass in (1, 3) and alone") == [True, False, True]
    assert kept("size >= 'm' and day > '2024-03-01'") == [False, False, True]
    assert kept("zoned >= '2024-03-01' and fare is missing") == [False, True, False]
    with pytest.raises(ExpressionError):
        compile_rule("pclass == 4", schema.columns)


@pytest.mark.parametrize("moment", ["0001-01-01", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_the_ends_of_time_are_compiled_or_refused(moment: str, zone: str | None) -> None:
    days = pd.to_datetime(["2024-01-01", "2024-03-01"]).tz_localize(zone)
    schema = Schema.infer(pd.DataFrame({"day": days}))
    codes = schema.read(pd.DataFrame({"day": days})).codes
    if zone is None and "T" in moment:
        with pytest.raises(ExpressionError, match="no time zone"):
            compile_rule(f"day > '{moment}'", schema.columns)
        return
    if pd.__version__ < "3" and (zone, moment) == ("Asia/Tokyo", "0001-01-01"):
        with pytest.raises(ExpressionError, match="never or twice"):  # as pandas 2 has it
            compile_rule(f"day > '{moment}'", schema.columns)
        return
    rule = compile_rule(f"day > '{moment}'", schema.columns)
    assert rule(codes, codes).tolist() == [moment < "2024"] * 2


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a column"),
        ("a <", "found the end"),
        ("a = 1", "compare with =="),
        ("a AND b", "keywords are lower-case"),
        ("a < 1 b", "expected an operator or the end, found 'b'"),
        ("edu == 'MSc", "not closed"),
        ("if a > 1 b > 1", "expected 'then'"),
        ("a in ()", "expected a column, a number or text"),
        ("a in (b)", "in (…) lists"),
        ("a < 1e999", "too large"),
        ("sqr(a) > 1", "did you mean 'sqrt'"),
        ("abs(a, b) > 1", "at most 1"),
        ("min(a) > 1", "at least 2"),
        ("round(a, b) > 1", "whole number"),
        ("old(a + 1) > 1", "expected ')'"),
        ("old(1) > 1", "expected a column name"),
        ("aa.x > 1", "unknown column 'aa.x'"),
        ("marital_status == 'x'", "did you mean '`marital status`'"),
        ("edu == 'Msc'", "did you mean 'MSc'"),
        ("edu + 1 > 2", "'edu' is categorical"),
        ("-edu > 2", "'edu' is categorical"),
        ("edu < 'MSc'", "has no order"),
        ("edu == `marital status`", "only its own values and old(edu) can"),
        ("edu == a", "'a' cannot stand beside categorical column 'edu'"),
        ("a == 'x'", "expected a number, found 'x'"),
        ("a + 1", "expected a truth value, found a number"),
        ("a", "'a' is not true or false"),
        ("edu", "does not hold true and false"),
        ("(a < b) == (b < c)", "joined by and, or"),
        ("(if a > 1 then 2) > 1", "truth values"),
        ("start > 5", "'2024-01-31'"),
        ("start > 'soon'", "not a datetime"),
        ("start * 2 > end", "only + and -"),
        ("(a > 1) + 1 > 2", "expected a number, found a truth value"),
        ("min(edu, 'MSc') == 'MSc'", "expected a value of column 'edu'"),
    ],
)
def test_refusals_say_what_is_wrong(text: str, said: str) -> None:
    assert said in refusal(text)


def test_refusals_point_to_the_place() -> None:
    *_, line, caret = refusal("a <= b and incme > 3").splitlines()
    assert line[caret.index("^") :].startswith("incme")


def test_a_value_needs_an_else_and_a_number_is_no_condition() -> None:
    with pytest.raises(ExpressionError, match="needs an else"):
        compile_formula("if a > 1 then 2", COLUMNS)
    with pytest.raises(ExpressionError, match="found a truth value"):
        compile_formula("a > 1", COLUMNS)
    with pytest.raises(ExpressionError, match="is text, not int"):
        parse(3)  # type: ignore[arg-type]


WORDS = (
    "if then else and or not in is missing true false old a b edu grade start end smoker "
    "abs min round ( ) ( ) , + - * / ** < <= == != 1 2.5 'MSc' '2024-01-31' `marital status`"
)
words = st.sampled_from(re.findall(r"`.*`|\S+", WORDS))


@settings(max_examples=400, deadline=None)
@given(text=st.text(max_size=60) | st.lists(words, max_size=20).map(" ".join))
def test_any_text_is_compiled_or_refused(text: str) -> None:
    for attempt in (compile_rule, compile_formula):
        try:
            compiled = attempt(text, COLUMNS)
        except ExpressionError as error:
            said = str(error).encode()
        else:
            said = b""
            assert compiled(rows(2), rows(2)).shape == (2,)
        assert len(said) < 1_000


HOSTILE = [
    "(" * 1_000 + ")" * 1_000,
    "-" * 1_999 + "a",
    "not " * 499 + "a",
    "a" + " ** a" * 399,
    "a" + "**-a" * 499,
    "a" + "+a" * 999,
    "a" + "<a" * 999,
    "a<1" + " or a<1" * 280,
    "a in (" + "1," * 990 + "1)",
    "if a<1 then " * 150 + "a<1",
    "if a<1 then 1" + " else if a<1 then 1" * 100,
    "abs(" * 400 + "a" + ")" * 400,
    "min(a," * 50 + "a" + ")" * 50,
    "'" * 1_999,
    "`" * 1_999,
    "1" * 2_000,
    "a" * 2_001,
    "(1+2*" * 49 + "a" + ")" * 49,
    "-(1+2*-" * 49 + "a" + ")" * 49,
    "if (" * 25 + "a<1" + ") then a<1" * 25,
    "(start-(" * 25 + "start" + "))" * 25,
    "(start+(" * 25 + "1" + "))" * 25,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_ends_soon_and_quietly(text: str) -> None:
    for attempt in (compile_rule, compile_formula):
        try:
            compiled = attempt(text, COLUMNS)
        except ExpressionError:
            continue
        again = pickle.loads(pickle.dumps(compiled))  # noqa: S301
        assert np.array_equal(again(rows(2), rows(2)), compiled(rows(2), rows(2)))


def test_depth_is_bounded_and_length_is_not_depth() -> None:
    assert value("(" * 50 + "a" + ")" * 50, rows(a=7.0)) == 7
    assert "nested more than 50 deep" in refusal("(" * 51 + "a" + ")" * 51)
    assert value("a" + "+a" * 999, rows(a=1.0)) == 1_000


# --- reading and ordering ----------------------------------------------------------------------


def test_an_expression_says_which_columns_it_reads() -> None:
    expression = parse("if edu != old(edu) then `it``s` >= old(age) + 2")
    assert expression.reads_now == {"edu", "it`s"}
    assert expression.reads_old == {"edu", "age"}
    assert expression.names == {"edu", "it`s", "age"}
    assert compile_rule("c > old(a)", COLUMNS).columns == (0, 2)


def test_derived_columns_come_after_what_they_read() -> None:
    derived = {"z": parse("y + x"), "y": parse("x * old(z)"), "x": parse("a"), "w": parse("a")}
    assert topological(derived) == ["w", "x", "y", "z"]
    assert topological({}) == []


@pytest.mark.parametrize(
    "texts", [{"x": "x + 1"}, {"x": "y", "y": "x"}, {"x": "y", "y": "z", "z": "x + 1"}]
)
def test_a_circle_of_derived_columns_is_named(texts: dict[str, str]) -> None:
    with pytest.raises(ConstraintError) as caught:
        topological({name: parse(text) for name, text in texts.items()})
    assert all(repr(name) in str(caught.value) for name in texts)
