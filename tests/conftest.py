"""Fixtures every test may use, and the two event loops."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import settings

# A busy machine must not fail a test: time is measured in benchmarks/.
# The suite tries the same examples each time, so that a commit passes or fails for good; new ones
# are looked for with `pytest -m hypothesis --hypothesis-profile=search`.
settings.register_profile("suite", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("suite")
# What pipimem keeps in the user's cache folder stays in the suite's own, that of its processes too.
_CACHE = tempfile.TemporaryDirectory(prefix="pipimem-tests-cache-")
os.environ["XDG_CACHE_HOME"] = _CACHE.name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--trio` and `--asyncio` (every async test on that loop) and `--long`."""
    parser.addoption("--trio", action="store_true", help="every async test on trio")
    parser.addoption("--asyncio", action="store_true", help="no test on trio")
    parser.addoption("--long", action="store_true", help="the long forms of the promises")


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop of an async test: asyncio, unless `both_loops` or `--trio` says otherwise."""
    usual = "trio" if request.config.getoption("--trio") else "asyncio"
    return str(getattr(request, "param", usual))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests marked `both_loops` on asyncio and on trio."""
    marked = metafunc.definition.get_closest_marker("both_loops")
    one = metafunc.config.getoption("--asyncio") or metafunc.config.getoption("--trio")
    if marked and not one and "anyio_backend" in metafunc.fixturenames:
        metafunc.parametrize("anyio_backend", ["asyncio", "trio"], indirect=True)
