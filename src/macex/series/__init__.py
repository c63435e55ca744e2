"""Time series: a column is a channel, a value is another case's channel; the same searches."""

from __future__ import annotations
