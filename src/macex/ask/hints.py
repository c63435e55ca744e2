"""Argument names that users of other packages expect, and what they are called here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, NoReturn, ParamSpec, TypeVar

from macex.errors import ArgumentError, AttributeMissingError, closest

P = ParamSpec("P")
R = TypeVar("R")
Hints = Mapping[str, str]

ONLY = 'constraints={"only": [...]} names what may change'
FIXED = 'constraints={"fixed": [...]} names what may not change'
RANGES = 'constraints={"ranges": {"age": (18, 65)}} bounds what a change may set'
COUNT = "n=3 gives each row three counterfactuals"
WANT = 'want="yes" names the class that is wanted'
SEED = "random_state=0 on the explainer is the seed; answers are the same in every call"
JOBS = "explain_file(..., jobs=-1) uses all cores; explain itself needs no workers"
CONSTRAINTS_OF_CALLS: Hints = {
    "features_to_vary": ONLY,
    "actionable_features": ONLY,
    "immutable_features": FIXED,
    "always_fixed": FIXED,
    "permitted_range": RANGES,
    "feature_range": RANGES,
    "n_jobs": JOBS,
    "random_seed": SEED,
    "seed": SEED,
}
EXPLAIN: Hints = {
    **CONSTRAINTS_OF_CALLS,
    "desired_class": WANT,
    "target_class": WANT,
    "desired_target": WANT,
    "y": WANT,
    "desired_range": "want=mx.between(low, high) asks for a score",
    "target_proba": "want=mx.at_least(0.7, label=...) asks for a score",
    "total_CFs": COUNT,
    "num_explanations": COUNT,
    "k": COUNT,
    "max_iter": "max_rows= bounds the rows that the model may score for a query",
    "time_limit": "timeout_s= bounds the seconds of a call",
    "proximity_weight": 'Explainer(prefer="nearest") puts near answers first',
    "diversity_weight": "n=3 gives different answers; Explainer(selection=) says how they differ",
    "verbose": "progress=True shows a bar",
}
EXPLAINER: Hints = {
    **CONSTRAINTS_OF_CALLS,
    "X": "data is the second argument: Explainer(model, X_train)",
    "training_data": "data is the second argument: Explainer(model, X_train)",
    "dataframe": "data is the second argument: Explainer(model, X_train)",
    "backend": "any model with predict_proba or predict, or a function, will do",
    "mode": "classes= names the outputs of a function; without it the outputs are scores",
    "outcome_name": "data is without the label: data.drop(columns=label)",
    "continuous_features": 'schema={"age": "continuous"} corrects what is inferred',
    "categorical_features": 'schema={"job": "categorical"} corrects what is inferred',
    "feature_names": "data is a frame with named columns, and names= says how people call them",
    "class_names": 'classes=("no", "yes") names the outputs',
    "target_names": 'classes=("no", "yes") names the outputs',
}
CONSTRAINTS: Hints = {
    "fix": 'fixed=["age"]',
    "frozen": 'fixed=["age"]',
    "freeze": 'fixed=["age"]',
    "immutable": 'fixed=["age"]',
    "vary": 'only=["hours"]',
    "features_to_vary": 'only=["hours"]',
    "permitted_range": 'ranges={"hours": (20, 60)}',
    "range": 'ranges={"hours": (20, 60)}',
    "bounds": 'ranges={"hours": (20, 60)}',
    "monotone": 'increase=["age"] or decrease=[...]',
    "max_features": "max_changes=2",
}
ON_EXPLAINER: Hints = {
    "predict": "ask your model; .score(rows) gives scores, .what_if(row, hours=45) tries values",
    "predict_proba": "ask your model; .score(rows) gives scores",
    "generate_counterfactuals": "use .explain(rows, n=3)",
    "get_counterfactuals": "use .explain(rows, n=3)",
    "explain_instance": "use .explain(row)",
    "explain_local": "use .explain(rows)",
    "fit": "an explainer needs no fitting: ask .explain(rows)",
    "whatif": "use .what_if(row, hours=45)",
}
ON_EXPLANATIONS: Hints = {
    "to_dataframe": "use .to_frame()",
    "to_df": "use .to_frame()",
    "to_pandas": "use .to_frame()",
    "visualize_as_dataframe": "use .to_frame(), or the explanations themselves in a notebook",
    "cf_examples_list": "found[0].counterfactuals are those of the first row",
    "counterfactuals": "found[0].counterfactuals are those of the first row",
    "to_xlsx": 'use .to_excel("answers.xlsx")',
    "save": 'use .to_json("answers.json") or .to_parquet("answers.parquet")',
}
ON_RESULT: Hints = {
    "to_dataframe": "use .to_frame()",
    "to_df": "use .to_frame()",
    "cf": "use .counterfactuals, best first",
    "cfs": "use .counterfactuals, best first",
    "changes": "each of .counterfactuals has .changes",
    "final_cfs_df": "use .to_frame()",
}


def hinted(hints: Hints) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse an unknown keyword argument with a word on what is meant.

    >>> @hinted({"total_CFs": "n=3"})
    ... def explain(rows, *, n=1): ...
    >>> explain([], total_CFs=3)
    Traceback (most recent call last):
    ...
    macex.errors.ArgumentError: explain() takes no 'total_CFs': n=3
    """

    def wrapped(function: Callable[P, R]) -> Callable[P, R]:
        known = frozenset(signature(function).parameters)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs.keys() - known:
                refuse(function, name, hints, known - {"self"})
            return function(*args, **kwargs)

        return checked

    return wrapped


def hinted_options(hints: Hints) -> Callable[[type[R]], type[R]]:
    """The same for the options of a class."""

    def wrapped(kind: type[R]) -> type[R]:
        setattr(kind, "__init__", hinted(hints)(kind.__init__))  # noqa: B010 - of the class
        return kind

    return wrapped


def refuse(function: Any, name: str, hints: Hints, known: frozenset[str]) -> NoReturn:
    """Raise for an argument that a function does not take."""
    called = function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]
    hint = f": {hints[name]}" if name in hints else closest(name, sorted(known))
    raise ArgumentError(f"{called}() takes no {name!r}{hint}")


def missing(owner: object, name: str, hints: Hints) -> NoReturn:
    """Raise for an attribute that an object does not have."""
    kind = type(owner)
    fields = getattr(kind, "__dataclass_fields__", ())
    public = sorted({known for known in [*fields, *dir(kind)] if not known.startswith("_")})
    hint = f": {hints[name]}" if name in hints else ""
    if not hint and not name.startswith("_"):
        hint = closest(name, public)
    raise AttributeMissingError(f"{kind.__name__} has no {name!r}{hint}", name=name, obj=owner)
