from __future__ import annotations

import pytest

from datasets.web import serving


@pytest.fixture
def site():
    with serving() as made:
        yield made
