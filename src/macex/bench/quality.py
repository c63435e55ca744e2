"""How good the default's answers are: beside the optimum, and beside other tools."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from macex.bench.cells import Cell
from macex.bench.claims import Claim
from macex.bench.figures import Alone, Figures, alone, figures
from macex.bench.optimum import NearestOptimum
from macex.bench.quality_claims import quality_claims
from macex.bench.reference import FEWEST, IMPLAUSIBLE, MACE_RL, NEAREST, listed, nearest, sparsest
from macex.bench.tables import Report
from macex.explainer import Explainer
from macex.explanation import Explanation
from macex.stages.search.exhaustive import Exhaustive

OPTIMUM_ROWS = 60_000
