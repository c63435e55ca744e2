"""The laws hold for every search: `method` runs a test with each of the three."""

from __future__ import annotations

import pytest

METHODS = ("exhaustive", "reinforce", "gradientless")


@pytest.fixture(scope="session", params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return request.param
