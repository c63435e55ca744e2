"""Methods of others under the same contract, for comparison."""

from __future__ import annotations
