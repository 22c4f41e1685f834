"""A workspace with one channel, and a browser without a screen: requests to the application."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.runtime import channel_overview

from tests.runtime.building import workspace


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on asyncio alone, and so does the command line."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine has as much time for a page as it takes."""
    monkeypatch.setattr(channel_overview, "_PATIENCE", 60.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace(tmp_path)
