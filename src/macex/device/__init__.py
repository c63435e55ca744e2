"""The default search for millions of rows, on an accelerator if there is one.

The stages in `macex.stages` are written so that a single query is quick. Here the same stages are
dense array code for blocks of many thousand queries, on NumPy or on torch, and the model is a
function of codes on the same device. So candidates, levels and refinement never leave the device.

    layout.py        what may change, as tables on the device          candidates.py   stage 1
    verdicts.py      goals, and scores to progress toward them         levels.py       stage 2
    neighbors.py     the nearest training rows that meet the goal      section.py      stage 4
    plausibility.py  how usual a row is                                selection.py    stage 3

    explainer.py     codes in, codes out
    frames.py        rows in, explanations out
    proposals.py     one device for many workers

    torch_scores.py  a torch module as a function of codes
    tree_readers.py  the trees of XGBoost, LightGBM and scikit-learn
    forest.py        trees of any of them, and what they are given for codes
    tree_scores.py   the trees as tables of bits, and what they add up to
"""

from __future__ import annotations

from macex.device.explainer import CodeAnswers, DeviceExplainer
from macex.device.frames import on_device
from macex.device.torch_scores import TorchScores
from macex.device.tree_scores import TreeScores

__all__ = ["CodeAnswers", "DeviceExplainer", "TorchScores", "TreeScores", "on_device"]
