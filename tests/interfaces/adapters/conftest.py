"""A workspace and a channel for the adapters; the frameworks run on asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pipimem import Channel, Pipimem

from tests.runtime import building


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return building.workspace(tmp_path)


@pytest.fixture
async def channel(root: Path) -> AsyncIterator[Channel]:
    async with Pipimem(root, "offline", settings=building.settings()) as pipimem:
        yield await pipimem.channel("room", kind="group")
