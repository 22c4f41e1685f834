"""Fixtures every test may use."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import settings

# A busy machine is no fault of a text: time is measured in benchmarks/.
# The suite tries the same examples each time, so that a commit passes or fails for good; new ones
# are looked for with `pytest -m hypothesis --hypothesis-profile=search`.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("suite")
# What pipimem keeps in the user's cache folder stays in the suite's own, that of its processes too.
_CACHE = tempfile.TemporaryDirectory(prefix="pipimem-tests-cache-")
os.environ["XDG_CACHE_HOME"] = _CACHE.name


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every async test runs on both event loops."""
    return str(request.param)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long` runs the long forms of the promises: thousands of kills and saves."""
    parser.addoption("--long", action="store_true", help="the long forms of the promises")
