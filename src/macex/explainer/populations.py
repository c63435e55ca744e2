"""What an explainer can be asked about whole populations; the answers are made in `cohort`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from macex.cohort.plans import Plan
    from macex.explainer.explainer import Explainer


class Populations:
    """Questions about many rows at once."""

    def plan(
        self: Explainer,
        rows: Any,
        *,
        want: Any = None,
        actions: int = 5,
        max_changes: int = 2,
        by: Any = None,
        constraints: Any = None,
    ) -> Plan:
        """Few common actions that flip the most rows.

        Parameters
        ----------
        rows : the rows to plan for; those that reach the goal as they are, are left out.
        want : as for `explain`.
        actions : at most so many actions.
        max_changes : the most columns that one action may change.
        by : a column, or a label for each row: a plan of its own for each group.
        constraints : further constraints; every action keeps them in every row it is counted for.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
        >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
        >>> explainer = Explainer(model, data, classes=("no", "yes"))
        >>> plan = explainer.plan(data, want="yes", actions=1)
        >>> plan.actions[0].moves, plan.coverage
        ((Move(column='hours', to=45, by=None),), 1.0)
        """
        from macex.cohort.plans import plan

        return plan(
            self,
            rows,
            want=want,
            actions=actions,
            max_changes=max_changes,
            by=by,
            constraints=constraints,
        )
