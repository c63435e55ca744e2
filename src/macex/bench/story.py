"""What the numbers say, in a few lines: the questions people ask, and what loses.

Every line is a claim that a table bears out or not; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from macex.bench.claims import Claim
from macex.bench.report.document import ReportSection, ReportTable

QUESTIONS = (
    ("Does the default answer every query?", "validity is 1.00"),
    ("Does it change the fewest columns?", "default: fewest changes or tied"),
    ("Within 2 % of the fewest changes there are?", "changes above the optimum"),
    ('Does `prefer="nearest"` come nearest?', 'prefer="nearest": best proximity or tied'),
    ("Is its answer beaten on 5 % of the queries at most?", "share of queries where a baseline's"),
    ("Does MACE-RL here keep up with its authors' code?", "reinforce: changed columns"),
    ("Is one row ten times faster than DiCE?", "times faster than DiCE random by CPU, one row"),
    ("And than the authors' MACE-RL?", "times faster than OmniXAI MACE-RL by CPU, one row"),
    ("And faster than NICE?", "times faster than NICE by CPU, one row"),
    ("Are exact answers for trees as good as OCEAN's?", "exact, fewest changes: macex is"),
    ("As good as treecf's?", "exact, least distance: macex nearest is"),
    ("As fast as treecf?", "exact, least distance: times faster"),
    ("Are answers usual by LOF, too?", "default: the best share of outliers by LOF"),
    ("Are three answers sparse and different?", "three: lowest sparsity"),
    ("Is MACE-RL ten times faster than Greedy on series?", "paper, table 7"),
)
PAPER = "paper, "
ANSWERS = {True: "yes", False: "NO"}


def story(claims: Sequence[Claim]) -> list[ReportSection]:
    """The sections that come first; none where nothing was claimed."""
    lines = [(question, claim) for question, start in QUESTIONS if (claim := _of(claims, start))]
    if not lines:
        return []
    table = ReportTable("Question by question", ("question", "answer", "number"), prose=True)
    for question, claim in lines:
        table.add(question, ANSWERS[bool(claim.held)], claim.number)
    came = ReportSection("What came out", [table, _counted(claims)], front=True)
    return [came, _losses(claims)]


def _of(claims: Sequence[Claim], start: str) -> Claim | None:
    """The first claim that begins so and was measured."""
    found = (one for one in claims if one.sentence.startswith(start) and one.held is not None)
    return next(found, None)


def _counted(claims: Sequence[Claim]) -> str:
    """How many claims hold, macex's own and the paper's apart."""
    parts = []
    for words, mine in (("macex's own claims", False), ("the paper's sentences", True)):
        known = [
            claim.held
            for claim in claims
            if claim.held is not None and claim.sentence.startswith(PAPER) == mine
        ]
        parts.append(f"{sum(known)} of {len(known)} of {words} hold")
    return f"In all, {' and '.join(parts)}; the table of claims lists them one by one."


def _losses(claims: Sequence[Claim]) -> ReportSection:
    """Every claim of our own that does not hold."""
    lost = [c for c in claims if c.held is False and not c.sentence.startswith(PAPER)]
    if not lost:
        return ReportSection("What loses", ["Nothing that this run measured."], front=True)
    table = ReportTable("Claims of macex that do not hold", ("claim", "number"), prose=True)
    for claim in lost:
        table.add(claim.sentence, claim.number)
    return ReportSection("What loses", [table], front=True)
