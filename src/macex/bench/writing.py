"""From findings to a report: what came out, how it was run, each experiment, every claim."""

from __future__ import annotations

import os
import platform
from collections import defaultdict
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from macex.bench.claims import Claim
from macex.bench.code import code_version
from macex.bench.experiments.registry import EXPERIMENTS
from macex.bench.findings import Findings
from macex.bench.report.document import Document, ReportSection, ReportTable
from macex.bench.story import story

PACKAGES = ("macex", "numpy", "pandas", "scikit-learn", "xgboost-cpu", "shap")
NAMED = 3


def machine() -> dict[str, Any]:
    """What the numbers depend on: cores, Python and the libraries' versions."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "code": code_version(),
        **{name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def document(findings: Findings, machines: Sequence[dict[str, Any]], command: str) -> Document:
    """The whole report."""
    chosen = [EXPERIMENTS[name] for name in findings.plan.tables]
    functions = dict.fromkeys(of for experiment in chosen for of in experiment.claims)
    claims = [claim for of in functions for claim in of(findings)]
    return Document(
        "macex benchmarks",
        [
            *story(claims),
            _run(findings, machines, command),
            *(experiment.show(findings) for experiment in chosen),
            *([_claims(claims)] if claims else []),
            *_troubles(findings),
        ],
    )


def _run(findings: Findings, machines: Sequence[dict[str, Any]], command: str) -> ReportSection:
    plan = findings.plan
    asked = "each method's own number of" if plan.queries is None else f"up to {plan.queries}"
    limits = [f"{one.name} {one.most}" for one in plan.chosen() if one.most is not None]
    sentences = [
        f"`{command}`, on {' and '.join(map(_machine, machines))}.",
        "80 % of the rows are for training, the rest is explained. Every method explains the same "
        f"fitted model and the same rows, {asked} queries a cell"
        + (f"; at most: {', '.join(limits)}." if limits else "."),
    ]
    cpu = sum(outcome.cost.get("task_cpu", 0) for outcome in findings.outcomes)
    sentences.append(f"That took {cpu / 60:.0f} minutes of CPU, other people's programs apart.")
    if findings.undone:
        sentences.append(f"{len(findings.undone)} tasks are still to do.")
    return ReportSection("How it was run", [" ".join(sentences)], front=True)


def _machine(facts: dict[str, Any]) -> str:
    rest = [
        f"{name} {value}" for name, value in facts.items() if name not in ("cores", "processor")
    ]
    return f"{facts['cores']} cores ({facts['processor']}), {', '.join(rest)}"


def _claims(claims: Iterable[Claim]) -> ReportSection:
    table = ReportTable("Held or not, with the number", ("claim", "verdict", "number"), prose=True)
    for claim in claims:
        table.add(claim.sentence, claim.verdict, claim.number)
    return ReportSection("Every claim", [table])


def _troubles(findings: Findings) -> list[ReportSection]:
    """What could not be measured, by reason."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, why in findings.plan.missing.items():
        places[why].append(name)
    for name, why in findings.troubles().items():
        places[why].append(name)
    if not places:
        return []
    table = ReportTable("By reason", ("where", "what"), prose=True)
    for why, names in places.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        table.add("; ".join(names[:NAMED]) + more, why)
    return [ReportSection("What was not measured", [table])]
