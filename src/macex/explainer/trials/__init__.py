"""A row with other values, tried on the model: verdicts, curves and maps of page and widget."""
