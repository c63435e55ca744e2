"""Rows by the file: reading, explaining and writing them in chunks, so that memory stays flat."""
