"""All experiments by name, and how each kind of task is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from macex.bench.claims import Claim
from macex.bench.experiments import (
    ablations,
    answers,
    believable,
    cohort,
    diverse,
    exact,
    examples,
    grounds,
    growth,
    importance,
    kinds,
    neighbours,
    one,
    own_claims,
    paper_claims,
    seeds,
    series,
    stretches,
    thresholds,
    times,
)
from macex.bench.experiments.engine import cost, quality
from macex.bench.experiments.scale import table as scale
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.report.document import ReportSection
from macex.bench.runner import Measure
from macex.bench.tasks import BenchTask

ClaimsOf = Callable[[Findings], list[Claim]]


@dataclass(frozen=True)
class Experiment:
    """What it needs, what it shows, and which claims it bears on."""

    tasks: Callable[[BenchPlan], list[BenchTask]]
    show: Callable[[Findings], ReportSection]
    claims: tuple[ClaimsOf, ...] = ()


ONE = (own_claims.one_counterfactual, paper_claims.one_counterfactual)

EXPERIMENTS: dict[str, Experiment] = {
    "1": Experiment(one.tasks_of("XGBoost"), one.show_of("XGBoost"), ONE),
    "2": Experiment(one.tasks_of("MLP"), one.show_of("MLP"), ONE),
    "3": Experiment(times.tasks, times.show, (own_claims.time, paper_claims.time)),
    "4": Experiment(examples.tasks_of("4"), examples.show_of("4")),
    "5": Experiment(examples.tasks_of("5"), examples.show_of("5")),
    "6": Experiment(diverse.tasks, diverse.show, (own_claims.several, paper_claims.several)),
    "7": Experiment(series.tasks, series.show, (series.claims, paper_claims.series)),
    "figure2": Experiment(importance.tasks, importance.show, (paper_claims.columns,)),
    "seeds": Experiment(seeds.tasks, seeds.show, (seeds.claims,)),
    "series": Experiment(stretches.tasks, stretches.show, (stretches.claims,)),
    "growth": Experiment(growth.tasks, growth.show, (growth.claims,)),
    "neighbours": Experiment(neighbours.tasks, neighbours.show, (neighbours.claims,)),
    "ablations": Experiment(ablations.tasks, ablations.show),
    "kinds": Experiment(kinds.tasks, kinds.show),
    "thresholds": Experiment(thresholds.tasks, thresholds.show, (thresholds.claims,)),
    "exact": Experiment(exact.tasks, exact.show, (exact.claims,)),
    "cohort": Experiment(cohort.tasks, cohort.show),
    "believable": Experiment(believable.tasks, believable.show, (believable.claims,)),
    "grounds": Experiment(grounds.tasks, grounds.show, (grounds.claims,)),
    "quality": Experiment(quality.tasks, quality.show, (quality.claims,)),
    "cost": Experiment(cost.tasks, cost.show, (cost.claims,)),
    "scale": Experiment(scale.tasks, scale.show, (scale.claims,)),
}
ALONE = {"scale"}  # hours of a machine of its own
GROUPS: dict[str, tuple[str, ...]] = {
    "paper": ("1", "2", "3", "4", "5", "6", "7", "figure2"),
    "engine": ("quality", "cost"),
    "all": tuple(name for name in EXPERIMENTS if name not in ALONE),
}


def measures() -> dict[str, Measure]:
    """How a task of each kind is measured."""
    return {
        "answers": answers.measure,
        "alone": times.measure,
        "examples": examples.measure,
        "importance": importance.measure,
        "growth": growth.measure,
        "neighbours": neighbours.measure,
        "fitting": neighbours.measure_fitting,
        "ablation": ablations.measure,
        "nearest optimum": quality.measure,
        "cost": cost.measure,
        "series": series.measure,
        stretches.KIND: stretches.measure,
        "kinds": kinds.measure,
        "cohort": cohort.measure,
        "thresholds": thresholds.measure,
        "exact": exact.measure,
        believable.KIND: believable.measure,
        grounds.KIND: grounds.measure,
        "scale": scale.measure,
    }
