"""The options of an explainer as JSON, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from macex.engine.options import Options, read_options
from macex.engine.registry import registered
from macex.errors import OptionError
from macex.render.names import Name
from macex.stages.candidates import Both, Domain, Neighbors
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection
from macex.stages.thresholds import Thresholds

STAGES: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        Both,
        Domain,
        Exhaustive,
        GradientlessDescent,
        GradientlessSearch,
        Neighbors,
        Reinforce,
        Section,
        Selection,
        Thresholds,
    )
}


BEFORE = {"plausibility": "distance", "structure": "ignore"}  # what explainers without these did


def written_options(options: Options) -> dict[str, Any]:
    """The options as JSON, each stage with its name."""
    plain = {"prefer", "distance", "fallback", "random_state", "sample", "plausibility"}
    plain |= {"structure"}
    names = {c: asdict(n) if isinstance(n, Name) else n for c, n in options.names.items()}
    stages = {
        name: value if name in plain else stage_written(value)
        for name, value in vars(options).items()
        if name not in ("names", "causes")
    }
    causes = {} if options.causes is None else {"causes": options.causes.to_dict()}
    return stages | {"names": names} | causes


def stage_written(stage: Any) -> Any:
    """A stage as JSON, with its name."""
    if stage is None:
        return None
    known = is_dataclass(stage) and not isinstance(stage, type)
    return {"stage": type(stage).__name__, **(asdict(stage) if known else vars(stage))}


def options_read(stored: dict[str, Any]) -> Options:
    """The options that were written; an older file may lack some."""
    return read_options(**{name: stage_read(value) for name, value in {**BEFORE, **stored}.items()})


def stage_read(value: Any, more: Mapping[str, Callable[..., Any]] = STAGES) -> Any:
    """A stage that was written, of macex, of a package, or one `more`."""
    if not isinstance(value, dict) or "stage" not in value:
        return value
    parts: dict[str, Any] = {k: v for k, v in value.items() if k != "stage"}
    parts = {k: tuple(v) if isinstance(v, list) else v for k, v in parts.items()}
    if value["stage"] == "Both":
        parts = {"neighbors": Neighbors(**parts["neighbors"]), "domain": Domain(**parts["domain"])}
    kinds: dict[str, Callable[..., Any]] = {
        **STAGES,
        **more,
        **{type(one).__name__: type(one) for one in registered().values()},
    }
    if value["stage"] not in kinds:
        raise OptionError(
            f"{value['stage']} is no stage of macex, nor registered by a package that is installed"
        )
    return kinds[value["stage"]](**parts)
