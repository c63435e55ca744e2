"""From syntax to compiled nodes: names meet columns, and every part gets its kind.

A part is a number, a truth value, or a code of one column. Literals have no kind of their own:
next to a categorical, ordered or datetime column they become codes of that column, which is how
`edu in ('MSc', 'PhD')` ends as a comparison of numbers. So each part is bound *to* a kind, and a
part that cannot have it is an error that points to it.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeGuard

from macex.ask.evaluation import (
    Always,
    Among,
    Apply,
    Choose,
    Compare,
    Condition,
    Constant,
    Either,
    Every,
    Fold,
    IsMissing,
    Not,
    Rank,
    ReadColumn,
    Restated,
    Rounded,
    Some,
    Value,
)
from macex.ask.grammar import BARE, KEYWORDS
from macex.ask.syntax import (
    Absent,
    Calculation,
    Call,
    Choice,
    ColumnName,
    ComparisonChain,
    Literal,
    Logic,
    Member,
    Negation,
    Negative,
    Tree,
    marked,
)
from macex.errors import ExpressionError, SchemaError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from macex.schema.moments import Clock

DAY = 86_400.0  # datetime codes are seconds
MOST_DECIMALS = 15
DIGITS = {"us": 6, "ns": 9}  # of a second, by what a tick is
FINER = re.compile(r"\.\d{7}")  # a text with more of them than Python's datetime holds


class Described(Protocol):
    """What an expression must know of a column; `macex.schema.Column` is one."""

    @property
    def name(self) -> str:
        """How expressions call it."""

    @property
    def kind(self) -> str:
        """One of "categorical", "ordered", "continuous", "datetime"."""

    @property
    def clock(self) -> Clock:
        """The way between codes and ticks, if it is a datetime."""

    def code(self, value: object) -> float:
        """The code of a value; `SchemaError` if the column does not know it."""


class Plain(Enum):
    """The kinds that belong to no column."""

    NUMBER = "a number"
    TRUTH = "a truth value"


NUMBER, TRUTH = Plain.NUMBER, Plain.TRUTH
Kind: TypeAlias = Plain | Described


class Binder:
    """Binds the syntax of one text to columns: `truth` and `value` are its two verbs."""

    def __init__(self, text: str, columns: Sequence[Described]) -> None:
        self.text = text
        self.columns = {column.name: (place, column) for place, column in enumerate(columns)}

    def _error(self, tree: Tree, message: str) -> ExpressionError:
        return marked(self.text, tree.at, message)

    def _mismatch(self, tree: Tree, wanted: Kind) -> ExpressionError:
        kind = self._kind(tree)
        if isinstance(tree, Literal):
            found = repr(tree.value)
        else:
            found = "literals" if kind is None else _described(kind)
        return self._error(tree, f"expected {_described(wanted)}, found {found}")

    def _column(self, tree: ColumnName) -> tuple[int, Described]:
        if tree.name not in self.columns:
            hint = closest(tree.name, map(written, self.columns))
            raise self._error(tree, f"unknown column {tree.name!r}{hint}")
        return self.columns[tree.name]

    def _code(self, column: Described, value: object, tree: Tree) -> float:
        try:
            return float(column.code(value))
        except SchemaError as error:
            raise self._error(tree, str(error)) from error

    def _kind(self, tree: Tree) -> Kind | None:
        """The kind a part has by itself; None for literals, which take that of their company."""
        match tree:
            case Literal():
                return None
            case ColumnName():
                _, column = self._column(tree)
                return NUMBER if column.kind == "continuous" else column
            case Choice(then=then, otherwise=otherwise):
                return TRUTH if otherwise is None else self._common((then, otherwise))
            case Call(function="min" | "max", arguments=arguments):
                return self._common(arguments)
            case Calculation(operands=(first, second, *_), operators=operators):
                start = self._kind(first)
                if not _is_datetime(start) or (operators == ("-",) and self._is_moment(second)):
                    return NUMBER
                return start
            case Negative() | Call():
                return NUMBER
            case _:
                return TRUTH

    def _common(self, trees: Iterable[Tree]) -> Kind | None:
        return next((kind for kind in map(self._kind, trees) if kind is not None), None)

    def truth(self, tree: Tree) -> Condition:
        """The part as a condition."""
        match tree:
            case Literal(value=bool(value)):
                return Always(value)
            case ColumnName():
                return self._flag(tree)
            case ComparisonChain():
                return self._comparison(tree)
            case Member(subject=subject, options=options):
                kind = self._common((subject, *options)) or NUMBER
                codes = tuple(self._literal(option, kind) for option in options)
                return Among(self.value(subject, kind), codes)
            case Absent(subject=subject):
                return IsMissing(self.value(subject, self._kind(subject) or NUMBER))
            case Negation(operand=operand):
                return Not(self.truth(operand))
            case Logic(word=word, operands=operands):
                conditions = tuple(self.truth(operand) for operand in operands)
                return Every(conditions) if word == "and" else Some(conditions)
            case Choice(condition=condition, then=then, otherwise=otherwise):
                met, holds = self.truth(condition), self.truth(then)
                if otherwise is None:
                    return Some((Not(met), holds))
                return Either(met, holds, self.truth(otherwise))
            case _:
                raise self._mismatch(tree, TRUTH)

    def _flag(self, tree: ColumnName) -> Condition:
        """A column of true and false, used as a condition."""
        place, column = self._column(tree)
        if column.kind not in ("categorical", "ordered"):
            raise self._error(
                tree, f"{tree.name!r} is not true or false; compare it with something"
            )
        try:
            column.code(False)
            true = column.code(True)
        except SchemaError as error:
            message = f"{tree.name!r} does not hold true and false; compare it with a value"
            raise self._error(tree, message) from error
        return Compare((ReadColumn(place, tree.old), Constant(true)), ("==",))

    def _comparison(self, tree: ComparisonChain) -> Condition:
        kind = self._common(tree.operands) or NUMBER
        if kind is TRUTH:
            raise self._error(tree, "truth values are joined by and, or and not, not compared")
        values = tuple(self.value(operand, kind) for operand in tree.operands)
        if not isinstance(kind, Plain) and set(tree.operators) - {"==", "!="}:
            if kind.kind == "categorical":
                message = f"{kind.name!r} is categorical and has no order; use ==, != or in"
                raise self._error(tree, message)
            values = tuple(map(Rank, values))
        return Compare(values, tree.operators)

    def value(self, tree: Tree, kind: Kind) -> Value:
        """The part as a number, or as a code of the column that is its kind."""
        match tree:
            case Literal():
                return Constant(self._literal(tree, kind))
            case ColumnName():
                return self._read(tree, kind)
            case Choice(condition=condition, then=then, otherwise=otherwise):
                if otherwise is None:
                    raise self._error(tree, "an if that gives a value needs an else")
                branches = self.value(then, kind), self.value(otherwise, kind)
                return Choose(self.truth(condition), *branches)
            case Call():
                return self._call(tree, kind)
            case Calculation() if kind is NUMBER or _is_datetime(kind):
                return self._arithmetic(tree, kind)
            case Negative(operand=operand) if kind is NUMBER:
                return Apply("negative", self.value(operand, NUMBER))
            case ComparisonChain() | Member() | Absent() | Negation() | Logic() if not isinstance(
                kind, Plain
            ):
                true, false = (Constant(self._code(kind, flag, tree)) for flag in (True, False))
                return Choose(self.truth(tree), true, false)
            case _:
                raise self._mismatch(tree, kind)

    def _literal(self, tree: Literal, kind: Kind) -> float:
        """The number, or the code that the column gives to the value."""
        value = tree.value
        if isinstance(kind, Plain):
            if kind is TRUTH or isinstance(value, str | bool):
                raise self._mismatch(tree, kind)
            return float(value)
        if kind.kind != "datetime":
            return self._code(kind, value, tree)
        if not isinstance(value, str):
            message = f"{kind.name!r} is a datetime; compare it with text such as '2024-01-31'"
            raise self._error(tree, message)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as error:
            message = f"{value!r} is not a datetime such as '2024-01-31' or '2024-01-31 18:30'"
            raise self._error(tree, message) from error
        return self._code(kind, value if FINER.search(value) else moment, tree)

    def _read(self, tree: ColumnName, kind: Kind) -> Value:
        place, column = self._column(tree)
        read = ReadColumn(place, tree.old)
        if isinstance(kind, Plain):
            if kind is NUMBER and column.kind == "continuous":
                return read
            raise self._error(tree, f"expected {_described(kind)}; {tree.name!r} is {column.kind}")
        if column.name == kind.name:
            return read
        if _is_datetime(column) and _is_datetime(kind):
            return Restated(read, column.clock, kind.clock)
        message = f"{tree.name!r} cannot stand beside {kind.kind} column {kind.name!r}"
        own = f"only its own values and old({written(kind.name)}) can"
        raise self._error(tree, f"{message}; {own}")

    def _arithmetic(self, tree: Calculation, kind: Kind) -> Value:
        """Numbers; or a datetime and days: `start + 30` is a datetime, `end - start` days."""
        first, *others = tree.operands
        start = self._kind(first)
        if kind is NUMBER and _is_datetime(start) and self._kind(tree) is NUMBER:
            span = self.value(first, start), self.value(others[0], start)
            apart = Rounded(Fold(span[0], (("-", span[1]),)), DIGITS[start.clock.unit])
            return Fold(apart, (("/", Constant(DAY)),))
        numbers: list[Value] = [self.value(other, NUMBER) for other in others]
        if kind is not NUMBER:
            if set(tree.operators) - {"+", "-"}:
                raise self._error(tree, "a datetime takes only + and - with a number of days")
            numbers = [Fold(number, (("*", Constant(DAY)),)) for number in numbers]
        rest = tuple(zip(tree.operators, numbers, strict=True))
        result = Fold(self.value(first, kind), rest)
        return Rounded(result, DIGITS[kind.clock.unit]) if _is_datetime(kind) else result

    def _is_moment(self, tree: Tree) -> bool:
        text = isinstance(tree, Literal) and isinstance(tree.value, str)
        return text or _is_datetime(self._kind(tree))

    def _call(self, tree: Call, kind: Kind) -> Value:
        first, *others = tree.arguments
        if tree.function in ("min", "max") and (kind is NUMBER or _is_datetime(kind)):
            rest = tuple((tree.function, self.value(other, kind)) for other in others)
            return Fold(self.value(first, kind), rest)
        if kind is not NUMBER:
            raise self._mismatch(tree, kind)
        if tree.function == "round":
            return Rounded(self.value(first, NUMBER), self._decimals(others))
        return Apply(tree.function, self.value(first, NUMBER))

    def _decimals(self, arguments: Sequence[Tree]) -> int:
        for tree in arguments:
            decimals = tree.value if isinstance(tree, Literal) else None
            if type(decimals) is not int or abs(decimals) > MOST_DECIMALS:
                message = f"the decimals of round are a whole number up to {MOST_DECIMALS}"
                raise self._error(tree, message)
            return decimals
        return 0


def _is_datetime(kind: Kind | None) -> TypeGuard[Described]:
    return kind is not None and not isinstance(kind, Plain) and kind.kind == "datetime"


def _described(kind: Kind) -> str:
    if isinstance(kind, Plain):
        return kind.value
    return "a datetime" if _is_datetime(kind) else f"a value of column {kind.name!r}"


def written(name: str) -> str:
    """A column's name as an expression writes it.

    >>> written("age"), written("marital status")
    ('age', '`marital status`')
    """
    return name if BARE.fullmatch(name) and name not in KEYWORDS else f"`{name.replace('`', '``')}`"
