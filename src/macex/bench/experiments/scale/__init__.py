"""Rows by the million: pace, workers, flat cost, and a run from file to file that is killed."""
