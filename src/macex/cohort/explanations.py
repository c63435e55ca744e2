"""The explanations behind a finding. Nobody receives them, so they are not recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macex.ask.question import Question
from macex.engine.batch import Batch, Progress, silent

if TYPE_CHECKING:
    from macex.cohort.population import Crowd
    from macex.engine.options import Options
    from macex.explanation import Explanation


def explained(
    everyone: Crowd,
    options: Options | None = None,
    *,
    max_rows: int | None = None,
    diagnose: bool = False,
    report: Progress = silent,
) -> list[Explanation]:
    """One counterfactual for each row of a crowd, found with these options."""
    if not len(everyone):
        return []
    engine = everyone.engine if options is None else everyone.engine.with_options(options)
    question = Question(margin=everyone.margin, max_rows=max_rows, diagnose=diagnose)
    places = everyone.places
    batch = Batch(everyone.rows, everyone.goals, everyone.constraints, question, places=places)
    return engine.explain(batch, report)
