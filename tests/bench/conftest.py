"""A made cell for every test, and a workshop around it."""

from __future__ import annotations

import pytest

from bench.made import MadeCells
from macex.bench.workshop import Workshop


@pytest.fixture(scope="session")
def cells():
    return MadeCells()


@pytest.fixture
def workshop(cells):
    return Workshop(cells)
