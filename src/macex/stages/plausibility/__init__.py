"""How plausible a row is, by either of two measures.

The first is learned: trees tell training rows from copies with cells swapped.

swaps.py      copies of rows in which a few cells come from elsewhere
inputs.py     what the trees look at: every column, and how far a number is from its prediction
trees.py      boosted trees of one shape, quick to fit and to ask
measure.py    these joined, and the share of training rows that look less real
storage.py    the trees as arrays, for a saved explainer

The second is the distance to the nearest rows that meet the goal: distance.py.
"""
