"""Fixtures every test may use."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine is no fault of a text: time is measured in benchmarks/.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every async test runs on both event loops."""
    return str(request.param)
