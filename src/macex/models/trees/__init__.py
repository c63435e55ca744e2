"""Reading tree models: between which values of a column their answers can change.

`cuts` is the one verb. `readers` says, library by library, how splits are read and tested; `trace`
follows rows through the steps of a pipeline; `borders` finds where a test turns, to the last bit.
"""

from __future__ import annotations

from macex.models.trees.borders import cuts

__all__ = ["cuts"]
