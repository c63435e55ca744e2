"""Stated mechanisms are solved for the noise of the row; those of DoWhy run in a process beside."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from macex.causes.stated import stated
from macex.schema import MISSING, Schema

FRAME = pd.DataFrame(
    {
        "x": [0.5, 1.0, 2.0, 3.0],
        "y": [1.0, 2.0, 4.0, 8.0],
        "z": [2.0, 3.0, 5.0, 9.0],
        "hours": [10, 20, 30, 41],
        "level": pd.Categorical(["low", "low", "high", "high"]),
    }
)
SCHEMA = Schema.infer(FRAME, {"x": "continuous", "y": "continuous", "z": "continuous"})
OLD = SCHEMA.read(FRAME).codes
AT = {name: SCHEMA.position(name) for name in FRAME}


def moved(name: str, text: str, **setting: float) -> np.ndarray:
    new = OLD.copy()
    for column, value in setting.items():
        new[:, AT[column]] = value
    return stated(SCHEMA, name, text, "u")(new, OLD)


@pytest.mark.parametrize(
    "text",
    [
        "x + u",
        "u - 2 * x",
        "3 - (x - u)",
        "x * u",
        "u / x",
        "x / u",
        "exp(0.1 * x + u)",
        "log(exp(x) + u)",
        "sqrt(u + x ** 2)",
        "-(u + x)",
        "x ** 2 + 0.5 * (u - y) / 3",
        "1 / (1 + exp(-(x + u)))",
        "if level == 'low' then x + u else 2 * u - x",
        "max(x, y) + u",
    ],
)
def test_unchanged_causes_give_the_own_value(text):
    if text.startswith("1 /"):
        old = OLD.copy()
        old[:, AT["z"]] = [0.2, 0.4, 0.5, 0.9]
        assert stated(SCHEMA, "z", text, "u")(old, old) == pytest.approx(old[:, AT["z"]])
        return
    assert moved("z", text) == pytest.approx(OLD[:, AT["z"]], abs=1e-12)


def test_the_noise_is_added_multiplied_or_inside():
    x, z = OLD[:, AT["x"]], OLD[:, AT["z"]]
    assert moved("z", "2 * x + u", x=1.5) == pytest.approx(z + 2 * (1.5 - x))
    assert moved("z", "x * u", x=1.5) == pytest.approx(z * 1.5 / x)
    assert moved("z", "exp(x + u)", x=1.5) == pytest.approx(z * np.exp(1.5 - x))


def test_without_noise_the_expression_is_the_value():
    assert moved("z", "x + y", x=1.0).tolist() == [2.0, 3.0, 5.0, 9.0]
    high, low = (float(SCHEMA.columns[AT["level"]].code(v)) for v in ("high", "low"))
    told = moved("level", "if x > 1.5 then 'high' else 'low'", x=1.0)
    assert told.tolist() == [low] * 4 != [high] * 4


def test_whole_numbers_stay_whole():
    found = moved("hours", "10 * x + u", x=1.26)
    assert SCHEMA.columns[AT["hours"]].in_dtype(found).tolist() == [18.0, 23.0, 23.0, 24.0]


def test_a_row_that_lacks_a_value_keeps_what_it_has():
    new, old = OLD.copy(), OLD.copy()
    new[0, AT["x"]] = MISSING
    old[1, AT["z"]] = MISSING
    new[:, AT["z"]] = old[:, AT["z"]]
    new[1:, AT["x"]] = 9.0
    found = stated(SCHEMA, "z", "x + u", "u")(new, old)
    assert found.tolist() == [2.0, MISSING, 12.0, 15.0]


def test_a_row_that_contradicts_its_mechanism_keeps_what_it_has():
    old = OLD.copy()
    old[0, AT["z"]] = -1.0  # no exponential
    new = old.copy()
    new[:, AT["x"]] += 1
    found = stated(SCHEMA, "z", "exp(x + u)", "u")(new, old)
    assert found[0] == -1.0
    assert found[1] == pytest.approx(3 * np.e)


def test_an_expression_without_a_value_leaves_the_column_as_it_is():
    new = OLD.copy()
    new[0, AT["x"]], new[1, AT["x"]] = -1.0, 2.0
    found = stated(SCHEMA, "z", "log(x)", "u")(new, OLD)
    assert found[:2].tolist() == [OLD[0, AT["z"]], pytest.approx(np.log(2))]


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
