"""The explanations behind a finding: those of the explainer, but to nobody, so never recorded."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from macex.explainer.pipeline import Asked

if TYPE_CHECKING:
    from macex.cohort.population import Crowd
    from macex.explainer.options import Options
    from macex.explanation import Explanation


def explained(
    everyone: Crowd,
    options: Options | None = None,
    *,
    max_rows: int | None = None,
    diagnose: bool = False,
) -> list[Explanation]:
    """One counterfactual for each row of a crowd, found with these options."""
    if not len(everyone):
        return []
    other = copy.copy(everyone.explainer)
    if options is not None:
        other._fitted = copy.copy(everyone.fitted)  # noqa: SLF001 - the explainer's own parts
        other._fitted.options = options  # noqa: SLF001 - the same
    asked = Asked(
        rows=everyone.rows,
        goals=everyone.goals,
        constraints=everyone.constraints,
        count=1,
        margin=everyone.margin,
        max_rows=max_rows,
        deadline=None,
        keep=False,
        places=everyone.places,
    )
    items = other._explained(asked, lambda _: None)  # noqa: SLF001 - the same
    return other._diagnosed(asked, items) if diagnose else items  # noqa: SLF001 - the same
