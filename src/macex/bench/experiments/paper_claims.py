"""What the paper says of its tables, each sentence held against this run."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import mean

from macex.bench.claims import Claim, at_least, at_most, everywhere
from macex.bench.comparing import behind
from macex.bench.experiments import diverse, importance
from macex.bench.experiments import series as time_series
from macex.bench.findings import Findings

RL, GLD = "MACE-RL", "MACE-GLD"
DICE = ("DiCE random", "DiCE genetic", "DiCE kdtree", "DiCE gradient")
BASELINES = ("Greedy", "SHAP-based", "CERTIFAI")
XGBOOST, MLP = "XGBoost", "MLP"


EVERYONE = (*BASELINES, *DICE, GLD)
OF_TABLES = (  # what MACE-RL is first in, against whom, for which model, in all cells but how many
    ("1: MACE-RL has the lowest sparsity on all datasets", "sparsity", EVERYONE, XGBOOST, 0),
    ("1: MACE-RL has the highest proximity on all but one", "proximity", EVERYONE, XGBOOST, 1),
    (
        "1: Greedy and SHAP-based have lower proximity than MACE-RL",
        *("proximity", ("Greedy", "SHAP-based"), XGBOOST, 0),
    ),
    ("2: MACE-RL has the lowest sparsity on almost all datasets", "sparsity", EVERYONE, MLP, 1),
    ("2: MACE-RL has the highest proximity on almost all datasets", "proximity", EVERYONE, MLP, 1),
)


def one_counterfactual(findings: Findings) -> list[Claim]:
    """Tables 1 and 2."""
    return [
        _valid(findings, XGBOOST),
        _valid(findings, MLP),
        *(
            everywhere(
                f"paper, table {sentence} ({model})",
                behind(findings, metric, RL, rivals, [model]),
                spare=spare,
            )
            for sentence, metric, rivals, model, spare in OF_TABLES
        ),
        everywhere(
            "paper, table 2: DiCE changes more columns than MACE-RL on all datasets (MLP)",
            [
                (f"{dataset} by {name}", ours - theirs)
                for name in DICE
                for dataset, ours, theirs in _pairs(findings, "sparsity", MLP, RL, name)
            ],
        ),
    ]


def _valid(findings: Findings, model: str) -> Claim:
    gaps = []
    for name in (RL, GLD):
        for dataset, _ in findings.cells([model]):
            found = findings.figures(dataset, model, name)
            if found is not None:
                gaps.append((f"{dataset} by {name}", 1 - found.own))
    number = {XGBOOST: "1", MLP: "2"}[model]
    return everywhere(
        f"paper, table {number}: MACE-RL and MACE-GLD answer every query ({model})", gaps
    )


def _pairs(
    findings: Findings, metric: str, model: str, first: str, second: str
) -> list[tuple[str, float, float]]:
    """Means of two methods on the queries both solved, by dataset."""
    pairs = []
    for dataset, _ in findings.cells([model]):
        one = findings.values(metric, dataset, model, first)
        two = findings.values(metric, dataset, model, second)
        both = one.keys() & two.keys()
        if both:
            pairs.append((dataset, mean(one[q] for q in both), mean(two[q] for q in both)))
    return pairs


def time(findings: Findings) -> list[Claim]:
    """Table 3, on the MLP, one row at a time."""
    nan = float("nan")
    slower = {name: _ratio(findings, name, RL) or nan for name in (GLD, *BASELINES)}
    slowest = [ratio for name in DICE if (ratio := _ratio(findings, name, "CERTIFAI")) is not None]
    least = (
        (
            "DiCE is the slowest: its slowest method's seconds over CERTIFAI's",
            *(max(slowest, default=nan), 1),
        ),
        ("MACE-RL is about 2 times faster than MACE-GLD", slower[GLD], 1.5),
        ("MACE-RL is about 8 times faster than CERTIFAI", slower["CERTIFAI"], 6),
    )
    most = (
        ("as Greedy: its seconds over Greedy's", 1 / slower["Greedy"]),
        ("as SHAP-based: its seconds over those", 1 / slower["SHAP-based"]),
    )
    said = "paper, table 3: "
    return [
        *(at_least(f"{said}{words}", ratio, bound, "x") for words, ratio, bound in least),
        *(
            at_most(f"{said}MACE-RL is about as fast {words}", ratio, 5, "x")
            for words, ratio in most
        ),
    ]


def _ratio(findings: Findings, first: str, second: str) -> float | None:
    """The mean over datasets of how many times longer the first takes."""
    ratios = []
    for dataset, model in findings.cells([MLP]):
        one = findings.per_query("alone", dataset, model, first).get("cpu")
        two = findings.per_query("alone", dataset, model, second).get("cpu")
        if one and two:
            ratios.append(one / two)
    return mean(ratios) if ratios else None


def several(findings: Findings) -> list[Claim]:
    """Table 6."""
    n = diverse.WANTED
    rivals = ["CERTIFAI", *DICE]
    return [
        everywhere(
            "paper, table 6: MACE-RL or MACE-GLD has the lowest sparsity",
            _least(
                behind(findings, "sparsity", RL, rivals, [MLP], n),
                behind(findings, "sparsity", GLD, rivals, [MLP], n),
            ),
        ),
        everywhere(
            "paper, table 6: DiCE has the highest diversity (over columns changed by either)",
            _less_diverse(findings),
        ),
    ]


def _least(
    first: Iterable[tuple[str, float]], second: Iterable[tuple[str, float]]
) -> list[tuple[str, float]]:
    pairs = zip(first, second, strict=False)
    return [min(one, two, key=lambda cell: cell[1]) for one, two in pairs]


def _less_diverse(findings: Findings) -> list[tuple[str, float]]:
    """By how much the most diverse other method is ahead of the best of DiCE."""
    gaps = []
    for dataset, model in findings.cells([MLP]):
        found = {
            name: figure.diversity_changed
            for name in findings.methods(n=diverse.WANTED)
            if (figure := findings.figures(dataset, model, name, n=diverse.WANTED)) is not None
        }
        theirs = [value for name, value in found.items() if name in DICE]
        others = [value for name, value in found.items() if name in (RL, GLD, "CERTIFAI")]
        if theirs and others:
            gaps.append((dataset, max(others) - max(theirs)))
    return gaps


def columns(findings: Findings) -> list[Claim]:
    """Figure 2."""
    found = importance.correlation(findings, importance.DRAWN, RL)
    sentence = "paper, figure 2: changes are consistent with importance: rank correlation on Adult"
    return [at_least(sentence, float("nan") if found is None else found, 0.3)]


def series(findings: Findings) -> list[Claim]:
    """Table 7: at about the paper's width, against Greedy as published and as it could be."""
    sentence = "paper, table 7: on time series MACE-RL is ten times faster than Greedy"
    found = [
        at_least(f"{sentence}, {words} ({channels} channels)", ratio, 10, " times")
        for name, channels in findings.plan.series.items()
        if channels > time_series.WIDE
        for greedy, words in (
            (time_series.PUBLISHED, "which asks row by row as published"),
            (time_series.GREEDY, "even when that asks in batches"),
        )
        for ratio, _ in [time_series.faster(findings, name, RL, greedy)]
    ]
    return found or [Claim(sentence, None, "no wide set of series was run")]
