"""Models from files, opened without running code from the file."""
