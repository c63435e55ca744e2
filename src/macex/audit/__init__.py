"""The record of every explanation: what was asked, of which model and data, and the answer."""

from __future__ import annotations

from macex.audit.log import COMMON, Audit, append, file_hash, read_records

__all__ = ["COMMON", "Audit", "append", "file_hash", "read_records"]
