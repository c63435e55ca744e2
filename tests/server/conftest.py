"""The parts of `serving.py` that tests of the server ask for."""

from __future__ import annotations

from serving import http, loan_files, loan_project, row, served, start

__all__ = ["http", "loan_files", "loan_project", "row", "served", "start"]
