"""Stage 2: three searches with one shape, `search(task, candidates) -> Found`."""
