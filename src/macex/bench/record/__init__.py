"""Numbers that were not measured here: the paper's printed tables."""
