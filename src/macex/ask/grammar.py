"""The grammar of rules and derived columns: text in, a tree of syntax out.

    expression  = "if" expression "then" expression [ "else" expression ] | disjunction ;
    disjunction = conjunction { "or" conjunction } ;
    conjunction = negation { "and" negation } ;
    negation    = { "not" } comparison ;
    comparison  = sum ( { relation sum }
                      | [ "not" ] "in" "(" literal { "," literal } ")"
                      | "is" [ "not" ] "missing" ) ;
    relation    = "<" | "<=" | ">" | ">=" | "==" | "!=" ;
    sum         = term { ( "+" | "-" ) term } ;
    term        = factor { ( "*" | "/" ) factor } ;
    factor      = { "-" } atom [ "**" factor ] ;
    atom        = literal | column | "old" "(" column ")" | "(" expression ")"
                | function "(" expression { "," expression } ")" ;
    literal     = [ "-" ] number | text | "true" | "false" ;
    column      = name | "`" any characters "`" ;
    function    = "abs" | "min" | "max" | "round" | "floor" | "ceil" | "log" | "exp" | "sqrt" ;

A name starts with a letter or `_` and goes on with letters, digits, `_` and `.`. Text stands in
single or double quotes; a quote inside is written twice. Keywords are lower-case.

The text comes from anywhere, so the reader is bounded: at most 2,000 characters, nested at most
50 deep. Chains (`a + b + c`, `a or b or c`) are flat in the tree and cost no depth.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

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
from macex.errors import ExpressionError, closest

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 2_000
DEEPEST = 50

# How many arguments each function takes: (least, most).
ARGUMENTS = {
    "abs": (1, 1),
    "ceil": (1, 1),
    "exp": (1, 1),
    "floor": (1, 1),
    "log": (1, 1),
    "max": (2, LONGEST),
    "min": (2, LONGEST),
    "round": (1, 2),
    "sqrt": (1, 1),
}
KEYWORDS = frozenset(
    ("if", "then", "else", "and", "or", "not", "in", "is", "missing", "true", "false", "old")
)
RELATIONS = ("<", "<=", ">", ">=", "==", "!=")
BARE = re.compile(r"[^\W\d][\w.]*")
TOKEN = re.compile(
    rf"""(?P<space>\s+)
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
      | (?P<name>{BARE.pattern})
      | (?P<column>`(?:[^`]|``)*+`)
      | (?P<text>'(?:[^']|'')*+'|"(?:[^"]|"")*+")
      | (?P<sign>\*\*|[<>=!]=|[-+*/<>(),])""",
    re.VERBOSE,
)
HINTS = {
    "=": "; compare with ==",
    "!": "; write not",
    "&": "; write and",
    "|": "; write or",
    "^": "; a power is **",
    "'": ": the text that starts here is not closed",
    '"': ": the text that starts here is not closed",
    "`": ": the column name that starts here is not closed",
}


class Token(NamedTuple):
    """A piece of the text: its sort, the characters, and where they start."""

    sort: str
    text: str
    at: int


def tokens(text: str) -> list[Token]:
    """Cut the text into tokens; the last one is always the end."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            sign = text[at]
            raise marked(text, at, f"unexpected {sign!r}{HINTS.get(sign, '')}")
        sort = match.lastgroup or ""
        if sort == "name" and match.group() in KEYWORDS:
            sort = "keyword"
        if sort != "space":
            found.append(Token(sort, match.group(), at))
        at = match.end()
    return [*found, Token("end", "", len(text))]


class Parser:
    """Recursive descent: one method per line of the grammar above.

    `now` and `old` gather the columns that the text reads.
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise ExpressionError(f"an expression is text, not {type(text).__name__}")
        if len(text) > LONGEST:
            found = f"this one has {len(text):,} and starts {text[:40]!r}"
            raise ExpressionError(f"an expression has at most {LONGEST:,} characters; {found}")
        self.text = text
        self.tokens = tokens(text)
        self.place = 0
        self.depth = 0
        self.now: set[str] = set()
        self.old: set[str] = set()

    def whole(self) -> Tree:
        """The tree of the whole text."""
        tree = self._expression()
        if self._token.sort != "end":
            raise self._unexpected("an operator or the end")
        return tree

    @property
    def _token(self) -> Token:
        return self.tokens[self.place]

    def _unexpected(self, expected: str) -> ExpressionError:
        token = self._token
        found = repr(token.text) if token.text else "the end"
        hint = "; keywords are lower-case" if token.text.lower() in KEYWORDS - {token.text} else ""
        return marked(self.text, token.at, f"expected {expected}, found {found}{hint}")

    def _accept(self, *words: str) -> Token | None:
        """Step over the next token if it is one of these keywords or signs."""
        token = self._token
        if token.sort not in ("keyword", "sign") or token.text not in words:
            return None
        self.place += 1
        return token

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._unexpected(repr(word))

    def _nested(self, rule: Callable[[], Tree]) -> Tree:
        """Read one level deeper."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise marked(self.text, self._token.at, f"nested more than {DEEPEST} deep")
        tree = rule()
        self.depth -= 1
        return tree

    def _expression(self) -> Tree:
        opening = self._accept("if")
        if not opening:
            return self._disjunction()
        condition = self._nested(self._expression)
        self._expect("then")
        then = self._nested(self._expression)
        otherwise = self._nested(self._expression) if self._accept("else") else None
        return Choice(opening.at, condition, then, otherwise)

    def _disjunction(self) -> Tree:
        operands, at = [self._conjunction()], self._token.at
        while self._accept("or"):
            operands.append(self._conjunction())
        return Logic(at, "or", tuple(operands)) if len(operands) > 1 else operands[0]

    def _conjunction(self) -> Tree:
        operands, at = [self._negation()], self._token.at
        while self._accept("and"):
            operands.append(self._negation())
        return Logic(at, "and", tuple(operands)) if len(operands) > 1 else operands[0]

    def _negation(self) -> Tree:
        at, negated = self._token.at, False
        while self._accept("not"):
            negated = not negated
        operand = self._comparison()
        return Negation(at, operand) if negated else operand

    def _comparison(self) -> Tree:
        subject = self._sum()
        at = self._token.at
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("missing")
            absent = Absent(at, subject)
            return Negation(at, absent) if negated else absent
        if self._accept("not"):
            self._expect("in")
            return Negation(at, Member(at, subject, self._options()))
        if self._accept("in"):
            return Member(at, subject, self._options())
        operands, operators = [subject], []
        while relation := self._accept(*RELATIONS):
            operators.append(relation.text)
            operands.append(self._sum())
        return ComparisonChain(at, tuple(operands), tuple(operators)) if operators else subject

    def _options(self) -> tuple[Literal, ...]:
        self._expect("(")
        found = [self._option()]
        while self._accept(","):
            found.append(self._option())
        self._expect(")")
        return tuple(found)

    def _option(self) -> Literal:
        at = self._token.at
        option = self._factor()
        if not isinstance(option, Literal):
            raise marked(self.text, at, "in (…) lists numbers, text, true or false only")
        return option

    def _sum(self) -> Tree:
        operands, operators, at = [self._term()], [], self._token.at
        while sign := self._accept("+", "-"):
            operators.append(sign.text)
            operands.append(self._term())
        return Calculation(at, tuple(operands), tuple(operators)) if operators else operands[0]

    def _term(self) -> Tree:
        operands, operators, at = [self._factor()], [], self._token.at
        while sign := self._accept("*", "/"):
            operators.append(sign.text)
            operands.append(self._factor())
        return Calculation(at, tuple(operands), tuple(operators)) if operators else operands[0]

    def _factor(self) -> Tree:
        at, negative = self._token.at, False
        while self._accept("-"):
            negative = not negative
        operand = self._atom()
        if power := self._accept("**"):
            exponent = self._nested(self._factor)
            operand = Calculation(power.at, (operand, exponent), ("**",))
        if not negative:
            return operand
        if isinstance(operand, Literal) and not isinstance(operand.value, str | bool):
            return Literal(at, -operand.value)
        return Negative(at, operand)

    def _atom(self) -> Tree:
        if literal := self._literal():
            return literal
        if self._accept("("):
            inside = self._nested(self._expression)
            self._expect(")")
            return inside
        if self._accept("old"):
            self._expect("(")
            column = self._column(old=True)
            self._expect(")")
            return column
        if self._token.sort == "name" and self.tokens[self.place + 1].text == "(":
            return self._call()
        return self._column(old=False)

    def _literal(self) -> Literal | None:
        token = self._token
        if token.sort == "number":
            value: str | bool | float = self._number(token)
        elif token.sort == "text":
            value = unquoted(token.text)
        elif token.sort == "keyword" and token.text in ("true", "false"):
            value = token.text == "true"
        else:
            return None
        self.place += 1
        return Literal(token.at, value)

    def _number(self, token: Token) -> int | float:
        if not math.isfinite(float(token.text)):
            raise marked(self.text, token.at, "a number too large to hold")
        return int(token.text) if token.text.isdigit() else float(token.text)

    def _column(self, *, old: bool) -> ColumnName:
        token = self._token
        if token.sort not in ("name", "column"):
            raise self._unexpected("a column name" if old else "a column, a number or text")
        self.place += 1
        name = unquoted(token.text) if token.sort == "column" else token.text
        (self.old if old else self.now).add(name)
        return ColumnName(token.at, name, old)

    def _call(self) -> Call:
        token = self._token
        if token.text not in ARGUMENTS:
            message = f"unknown function {token.text!r}{closest(token.text, ARGUMENTS)}"
            raise marked(self.text, token.at, message)
        self.place += 2
        arguments = [self._nested(self._expression)]
        while self._accept(","):
            arguments.append(self._nested(self._expression))
        self._expect(")")
        least, most = ARGUMENTS[token.text]
        if not least <= len(arguments) <= most:
            bound = f"at least {least}" if len(arguments) < least else f"at most {most}"
            message = f"{token.text} takes {bound} arguments, found {len(arguments)}"
            raise marked(self.text, token.at, message)
        return Call(token.at, token.text, tuple(arguments))


def unquoted(quoted: str) -> str:
    """What stands between the quotes, doubled quotes made single."""
    quote = quoted[0]
    return quoted[1:-1].replace(quote * 2, quote)
