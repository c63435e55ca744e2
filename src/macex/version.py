"""The version, which every answer and every record carries."""

from __future__ import annotations

__version__ = "0.1.0"
