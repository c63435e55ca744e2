"""The default search for millions of rows, on an accelerator if there is one.

The stages in `macex.stages` are written so that a single query is quick. Here the same stages are
dense array code for blocks of many thousand queries, on NumPy or on torch, and the model is a
function of codes on the same device. So candidates, levels and refinement never leave the device.

    layout.py        what may change, as tables on the device          candidates.py   stage 1
    embedding.py     codes to the inputs of a torch module             levels.py       stage 2
    verdicts.py      scores to progress toward the goal                section.py      stage 4
    plausibility.py  how usual a row is                                selection.py    stage 3

    explainer.py     codes in, codes out
    frames.py        rows in, explanations out

    forest.py, tree_inputs.py, tree_tables.py   the trees of XGBoost as tables of bits
    tree_leaves.py                              what they add up to, on the device
"""

from __future__ import annotations

from macex.device.explainer import CodeAnswers, DeviceExplainer
from macex.device.frames import on_device
from macex.device.torch_scores import TorchScores
from macex.device.tree_scores import TreeScores

__all__ = ["CodeAnswers", "DeviceExplainer", "TorchScores", "TreeScores", "on_device"]
