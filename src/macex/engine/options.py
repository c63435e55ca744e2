"""The explainer's options: names and objects a caller may give for each stage, and their JSON.

`BUILT_IN` are the searches of this package. Another package registers one as an entry point of the
group `macex.searches`; it names a class that can be made without arguments, or an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cache
from importlib.metadata import entry_points
from numbers import Integral
from typing import Any, Literal, get_args

from macex.causes.causes import Causes, read_causes
from macex.errors import OptionError, closest, require_count
from macex.render.names import Name, read_names
from macex.stages.candidates import NAMED as CANDIDATES
from macex.stages.candidates import Both, Domain, Neighbors
from macex.stages.distance import KINDS
from macex.stages.finetune.descent import GradientlessDescent
from macex.stages.finetune.section import Section
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.protocol import DEFAULT_SEARCH, EXHAUSTIVE, Search
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection
from macex.stages.thresholds import Thresholds

Finetune = Section | GradientlessDescent

OFFERS = {**CANDIDATES, "thresholds": Thresholds()}
SELECTIONS = {"diverse": Selection(), "printed": Selection(uses=3, printed=True)}
FINETUNES: dict[str, Finetune] = {"section": Section(), "gradientless": GradientlessDescent()}
Preference = Literal["balanced", "fewest", "nearest", "plausible", "surest"]
PREFERENCES: tuple[Preference, ...] = get_args(Preference)  # the first is the default, everywhere
STRUCTURES = ("keep", "warn", "ignore")
MEASURES = ("learned", "distance")  # of plausibility
GROUP = "macex.searches"
BUILT_IN: dict[str, Search] = {
    one.name: one for one in (Exhaustive(), Reinforce(), GradientlessSearch())
}
STAGES: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        *(Both, Domain, Neighbors, Thresholds, Selection, Section, GradientlessDescent),
        *map(type, BUILT_IN.values()),
    )
}
BEFORE = {"plausibility": "distance", "structure": "ignore"}  # what explainers without these did


@dataclass(frozen=True)
class Options:
    """One object for every stage."""

    candidates: Neighbors | Domain | Both | Thresholds
    method: Search
    selection: Selection
    finetune: Finetune | None
    prefer: Preference
    distance: str | Callable[[Any, Any], Any]
    fallback: bool
    random_state: int
    names: dict[str, str | Name] = field(default_factory=dict)
    sample: int | None = None
    plausibility: str = MEASURES[0]
    structure: str = STRUCTURES[0]
    causes: Causes | None = None

    @property
    def neighbors(self) -> Neighbors:
        """How neighbours are sought, whatever candidates are made of them."""
        if isinstance(self.candidates, Both):
            return self.candidates.neighbors
        return self.candidates if isinstance(self.candidates, Neighbors) else Neighbors()

    @property
    def chain(self) -> tuple[Search, ...]:
        """The search, and those that are tried when it finds nothing."""
        others = [s for s in BUILT_IN.values() if s.name != self.method.name]
        return self.method, *(others if self.fallback else [])


def read_options(
    *,
    candidates: Any,
    method: Any,
    selection: Any,
    finetune: Any,
    prefer: Any,
    distance: Any,
    fallback: Any,
    random_state: Any,
    names: Any,
    sample: Any = None,
    plausibility: Any = MEASURES[0],
    structure: Any = STRUCTURES[0],
    causes: Any = None,
) -> Options:
    """Options from what a caller gave; a wrong one is an error that names the right ones."""
    check_common(prefer, fallback, random_state)
    if not callable(distance) and (not isinstance(distance, str) or distance not in KINDS):
        raise OptionError(
            f"distance={distance!r}{closest(distance, KINDS)}, or a function of two frames"
        )
    if not isinstance(plausibility, str) or plausibility not in MEASURES:
        raise OptionError(f"plausibility={plausibility!r}{closest(plausibility, MEASURES)}")
    if not isinstance(structure, str) or structure not in STRUCTURES:
        raise OptionError(
            f"structure={structure!r}{closest(structure, STRUCTURES)}, or a list of relations"
        )
    chosen = choose("candidates", candidates, OFFERS, (Neighbors, Domain, Both, Thresholds))
    search = read_search(method, BUILT_IN)
    if isinstance(chosen, Thresholds) and not search.proves:
        raise OptionError(
            f'candidates="thresholds" are for method="{EXHAUSTIVE}", '
            f"not {search.name!r}: only that search tries them all"
        )
    return Options(
        candidates=chosen,
        method=search,
        selection=choose("selection", selection, SELECTIONS, (Selection,)),
        finetune=None
        if finetune is None
        else choose("finetune", finetune, FINETUNES, (Section, GradientlessDescent)),
        prefer=prefer,
        distance=distance,
        fallback=fallback,
        random_state=int(random_state),
        names=read_names(names),
        sample=None if sample is None else require_count("sample", sample),
        plausibility=plausibility,
        structure=structure,
        causes=read_causes(causes),
    )


def check_common(prefer: Any, fallback: Any, random_state: Any) -> None:
    """Refuse a wrong value of an option that explainers of tables and of series both have."""
    if not isinstance(prefer, str) or prefer not in PREFERENCES:
        raise OptionError(f"prefer={prefer!r}{closest(prefer, PREFERENCES)}")
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise OptionError(f"random_state must be a whole number, not {random_state!r}")
    if not isinstance(fallback, bool):
        raise OptionError(f"fallback must be True or False, not {fallback!r}")


def choose(option: str, given: Any, named: Any, kinds: tuple[type, ...]) -> Any:
    """The object of a stage from an object or its name; a wrong one is an error."""
    if isinstance(given, kinds):
        return given
    if isinstance(given, str) and given in named:
        return named[given]
    objects = " or ".join(kind.__name__ for kind in kinds)
    raise OptionError(f"{option}={given!r}: give {objects}, or a name{closest(given, named)}")


def check_classes(classes: Any) -> None:
    """Raise unless the classes are distinct names, or None."""
    if classes is None:
        return
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise OptionError(f"classes names the model's outputs in order, not {classes!r}")
    names = list(classes)
    if len(set(map(repr, names))) < len(names) or not names:
        raise OptionError(f"classes must be distinct names, one for each output, not {names!r}")


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


@cache
def registered() -> Mapping[str, Search]:
    """The searches of installed packages, by name."""
    found: dict[str, Search] = {}
    for point in entry_points(group=GROUP):
        made = point.load()
        made = made() if isinstance(made, type) else made
        if not isinstance(made, Search):
            raise OptionError(f"{point.value}, registered as a search, is none: {lacking(made)}")
        if point.name != made.name or point.name in BUILT_IN:
            raise OptionError(f"{point.value} is registered as {point.name!r}, not {made.name!r}")
        found[point.name] = made
    return found


def search_names() -> tuple[str, ...]:
    """The names of all searches, the default first."""
    return (*BUILT_IN, *sorted(registered()))


def read_search(given: Any, own: Mapping[str, Search]) -> Search:
    """A search from an object or a name; `own` are the searches of macex itself."""
    if isinstance(given, str):
        known = {**own, **registered()}
        if given in known:
            return known[given]
        raise OptionError(f"method={given!r}{closest(given, known)}")
    if isinstance(given, type) or not isinstance(given, Search):
        raise OptionError(f"method={given!r} is no search: {lacking(given)}")
    return given


def lacking(given: Any) -> str:
    """What an object lacks to be a search."""
    if isinstance(given, type):
        return f"give an object, {given.__name__}(), or a name such as {DEFAULT_SEARCH!r}"
    parts = ("name", "max_rows", "proves", "offered", "__call__")
    missing = [part for part in parts if not hasattr(given, part)]
    return f"it has no {', '.join(missing)}" if missing else "it cannot be called"
