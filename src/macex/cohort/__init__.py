"""Whole populations: plans, bias, recourse and the picture of a model's decisions at large."""
