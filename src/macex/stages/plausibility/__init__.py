"""How plausible a row is, by either of two measures.

The first is learned: trees tell training rows from copies with cells swapped.

trees.py      copies of rows in which a few cells come from elsewhere, and boosted trees
measure.py    what the trees look at, the share of training rows that look less real, and all of
              it as arrays, for a saved explainer

The second is the distance to the nearest rows that meet the goal: distance.py.
"""
