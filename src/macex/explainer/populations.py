"""What an explainer can be asked about whole populations; the answers are made in `cohort`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from macex.cohort.bias import Bias, bias, bias_question
from macex.cohort.picture import Picture, picture
from macex.cohort.plans import Plan, plan, read_plan_options
from macex.cohort.recourse import Recourse, recourse
from macex.engine.engine import Engine
from macex.engine.facts import facts_about


class Populations:
    """Questions about many rows at once."""

    engine: Engine

    def plan(
        self,
        rows: Any,
        *,
        want: Any = None,
        actions: int = 5,
        max_changes: int = 2,
        by: Any = None,
        constraints: Any = None,
        slack: float = 0.02,
        max_cost: float | None = None,
        plausible: bool = True,
        bands: Mapping[str, Sequence[float]] | None = None,
        support: float = 0.0,
    ) -> Plan:
        """Few common actions that flip the most rows, each as small as it can be.

        Parameters
        ----------
        rows : the rows to plan for; rows that already reach the goal are left out.
        want : as for `explain`.
        actions : the most actions.
        max_changes : the most columns that one action may change.
        by : a column, several columns, or a label for each row: a plan of its own for each group.
        constraints : further constraints; every action keeps them in every row it is counted for.
        slack : the share of the rows in need that may be given up so that actions change fewer
            columns, and numbers by less.
        max_cost : the farthest that an action may move a row.
        plausible : let a flip count as much as the share of the action's rows that are plausible
            afterwards; false counts flips alone.
        bands : where columns of numbers are cut into groups, e.g. `{"age": [25, 60]}`.
        support : the least share of the rows in need that an action must flip. Of more than 2,048
            rows it is the share of the sample on which the actions are chosen.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from macex import Explainer
        >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
        >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
        >>> explainer = Explainer(model, data, classes=("no", "yes"))
        >>> plan = explainer.plan(data, want="yes", actions=1)
        >>> plan.actions[0].moves, plan.coverage
        ((Move(column='hours', to=None, by=None, at_least=45, at_most=None),), 1.0)
        """
        options = read_plan_options(
            actions, max_changes, slack, max_cost, plausible=plausible, support=support
        )
        found = plan(
            self.engine, rows, options, want=want, by=by, constraints=constraints, bands=bands
        )
        return found.told_by(partial(facts_about, self.engine, want, constraints))

    def bias(
        self,
        rows: Any,
        *,
        protected: Sequence[str],
        want: Any = None,
        constraints: Any = None,
        by: Any = None,
        explained: int = 1000,
        bands: Mapping[str, Sequence[float]] | None = None,
        max_values: int | None = None,
        through: Sequence[str] = (),
    ) -> Bias:
        """Measure what protected columns do to decisions, to answers and to the effort of groups.

        Parameters
        ----------
        rows : the rows whose decisions are looked at.
        protected : the columns, e.g. `["gender", "race"]`.
        want : the decision that people hope for, for the burden of groups; as for `explain`.
        constraints : what else may not change, for the burden of groups.
        by : further groups whose burden is compared: a column, several columns (a group for each
            combination), or a label for each row.
        explained : the most rows to explain, evenly spaced; decisions are flipped for all rows.
        bands : where columns of numbers are cut into groups, e.g. `{"age": [25, 60]}`; at the
            quartiles of training if not said.
        max_values : the most values of each column to try in every row. By default all values of
            training, unless rows times values exceed twenty million. If some were not tried, the
            finding says so and its shares are lower bounds.
        through : with causes, columns by which the protected ones may count, e.g. `["income"]`: the
            finding says how many decisions change by other ways.
        """
        question = bias_question(
            self.engine,
            protected=protected,
            want=want,
            constraints=constraints,
            by=by,
            explained=explained,
            bands=bands,
            max_values=max_values,
            through=through,
        )
        found = bias(self.engine, rows, question)
        return found.told_by(partial(facts_about, self.engine, want, constraints))

    def recourse(
        self,
        rows: Any,
        *,
        want: Any = None,
        constraints: Any = None,
        by: Any = None,
        diagnose: bool = True,
        max_rows: int | None = None,
    ) -> Recourse:
        """Count rows with an answer under the constraints, provably without one, and undecided.

        Parameters
        ----------
        rows, want, constraints : as for `explain`.
        by : a column, several columns, or a label for each row: counts for each group.
        diagnose : also count which constraint takes the answer from how many.
        max_rows : the most rows the model may score for one row in a search. Every row with at
            most this many allowed combinations is decided, 20,000 by default. Trees are decided by
            their own splits, whatever the number of values.
        """
        found = recourse(
            self.engine,
            rows,
            want=want,
            constraints=constraints,
            by=by,
            diagnose=diagnose,
            max_rows=max_rows,
        )
        return found.told_by(partial(facts_about, self.engine, want, constraints))

    def picture(
        self,
        rows: Any,
        *,
        want: Any = None,
        constraints: Any = None,
        parts: int = 6,
        max_changes: int = 1,
        explained: int = 2000,
        shap: Any = None,
    ) -> Picture:
        """Show what the answers of many rows change, and which action helps which rows.

        Parameters
        ----------
        rows, want, constraints : as for `explain`.
        parts : into how many parts a small tree may divide the rows; each gets one rule.
        max_changes : the most columns that the action of a rule may change.
        explained : the most rows to look at, evenly spaced.
        shap : mean |SHAP| by column, or SHAP values of shape (rows, columns), to set beside.
        """
        found = picture(
            self.engine,
            rows,
            want=want,
            constraints=constraints,
            parts=parts,
            max_changes=max_changes,
            explained=explained,
            shap=shap,
        )
        return found.told_by(partial(facts_about, self.engine, want, constraints))
