"""The methods that take part, and how each is asked.

A method is built from a model, its training rows and a seed, as everywhere in the benchmarks. Its
`explain(rows)` is handed what it can take of `n`, `want`, `constraints`, `max_rows` (the budget of
a query) and `timeout_s`.
"""

from __future__ import annotations

import hashlib
import inspect
import runpy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from macex.bench.methods import BUILT_IN, EXACT, Build, methods
from macex.bench.methods import FIELD as OF_PAPERS
from macex.errors import DataError, OptionError, closest

OURS = ("default", "nearest", EXACT, "MACE-RL")
FIELD = (*OURS, "Greedy", "CERTIFAI", *OF_PAPERS)
"""Who takes part unless it is said who. Where they are named, others do as well: other people's
programs, and the SHAP-based method, which asks for 41,000 rows before its first answer."""
ONLY: Mapping[str, set[str]] = {
    EXACT: {"XGBoost", "LightGBM", "CatBoost", "forest"},
    "FeatureTweak": {"forest"},
    "Actionable Recourse": {"logistic"},
    "Wachter autograd": {"torch"},
}
"""Methods that are made for some kinds of models alone."""


def entries(own: str | None = None) -> dict[str, Build]:
    """All methods by name; `own` is a stranger's, `FILE.py:NAME`."""
    found = {name: one.build for name, one in methods().items()}
    if own is None:
        return found
    if own_name(own) in found:
        raise OptionError(f"a method is called {own_name(own)!r} already: give yours another name")
    return {**found, own_name(own): own_build(own)}


def chosen(names: list[str], own: str | None = None) -> list[str]:
    """Checked names; without any, the whole field and the stranger's method."""
    known = entries(own)
    for name in names:
        if name not in known:
            raise OptionError(f"no method is called {name!r}{closest(name, known)}")
    return list(dict.fromkeys([*(names or FIELD), *([] if own is None else [own_name(own)])]))


def own_name(own: str) -> str:
    """The name of a stranger's method.

    >>> own_name("work/mine.py:Mine")
    'Mine'
    """
    path, _, name = own.rpartition(":")
    if not path or not name:
        raise OptionError(f"--method {own!r}: say FILE.py:NAME")
    return name


@cache
def own_build(own: str) -> Build:
    """What builds it: a class, or a function of (model, data, seed), in a file."""
    path, name = Path(own.rpartition(":")[0]), own_name(own)
    if not path.is_file():
        raise DataError(f"--method: there is no file {str(path)!r}")
    try:
        held = runpy.run_path(str(path))
    except Exception as error:
        raise DataError(f"--method: {str(path)!r} raised {error!r}") from error
    if not callable(held.get(name)):
        raise DataError(f"--method: {str(path)!r} has no class or function {name!r}")
    build: Build = held[name]
    return build


def fingerprint(method: str, own: str | None) -> str:
    """A few digits that change with the file of a stranger's method; none for any other.

    >>> fingerprint("Greedy", None)
    ''
    """
    if own is None or method != own_name(own):
        return ""
    return hashlib.sha256(Path(own.rpartition(":")[0]).read_bytes()).hexdigest()[:8]


def is_stranger(method: str) -> bool:
    """Whether a method comes from outside of macex.

    >>> is_stranger("Greedy"), is_stranger("Mine")
    (False, True)
    """
    return method not in BUILT_IN


def suited(method: str, kind: str) -> bool:
    """Whether a method can be asked about a kind of model.

    >>> suited("FeatureTweak", "MLP")
    False
    """
    return kind in ONLY.get(method, {kind})


def asked(made: Any, rows: Any, options: Mapping[str, Any]) -> Any:
    """What a method answers; it is told what it can take of the options."""
    taken = inspect.signature(made.explain).parameters
    free = any(one.kind is one.VAR_KEYWORD for one in taken.values())
    told = {k: v for k, v in options.items() if v is not None and (free or k in taken)}
    if options.get("want") is not None and "want" not in told:
        raise OptionError("it takes no want=, so it cannot be asked for a number")
    return made.explain(rows, **told)
