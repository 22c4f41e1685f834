"""A workspace with one channel, and a browser without a screen: requests to the application."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.building import workspace


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on asyncio alone, and so does the command line."""
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)
