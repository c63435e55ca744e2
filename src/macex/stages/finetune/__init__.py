"""Stage 4: numbers moved back toward the query, `refine(task, pool) -> Pool`."""
