"""A model of DoWhy as causes: it needs versions of its own, so it runs in a process beside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-peers" / "dowhy" / "bin" / "python"
PROGRAM = """
import json
import networkx as nx
import numpy as np
import pandas as pd
from dowhy import gcm
import macex as mx

draw = np.random.default_rng(0)
x = draw.normal(size=600)
y = 2 * x + draw.normal(size=600)
z = y - 0.5 * x + draw.normal(size=600)
rows = pd.DataFrame({"x": x, "y": y, "z": z})
known = gcm.InvertibleStructuralCausalModel(nx.DiGraph([("x", "y"), ("x", "z"), ("y", "z")]))
for name in rows:
    causes = list(known.graph.predecessors(name))
    learnt = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
    known.set_causal_mechanism(name, learnt if causes else gcm.EmpiricalDistribution())
gcm.fit(known, rows)
explainer = mx.Explainer(
    lambda frame: 1 / (1 + np.exp(-frame["z"].to_numpy())),
    rows,
    classes=("no", "yes"),
    causes=mx.Causes(known),
    constraints=mx.Constraints(only=["x"]),
    plausibility="distance",
)
refused = rows[rows["z"] < 0].head(12)
moved = []
for explanation, own in zip(explainer.explain(refused, want="yes"), refused.iloc):
    for answer in explanation.counterfactuals:
        moved.append((answer.row.iloc[0] - own).tolist())
print(json.dumps(moved))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason="DoWhy is not installed: make peers")
def test_mechanisms_that_dowhy_fitted_say_what_follows():
    """The noise of a row stays: differences are those of the equations, as they were fitted."""
    ran = subprocess.run(
        [PYTHON, "-W", "ignore", "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    moved = json.loads(ran.stdout.splitlines()[-1])
    assert len(moved) > 8
    for x, y, z in moved:
        assert x != 0
        assert y == pytest.approx(2 * x, rel=0.1)
        assert z == pytest.approx(y - 0.5 * x, rel=0.15)
