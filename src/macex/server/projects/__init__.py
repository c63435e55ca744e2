"""Projects: a model, the rows it learnt from, the rows people look at."""
