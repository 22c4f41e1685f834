"""Texts made to break out of where they are put: a quick sample of `python -m
benchmarks.hostile_texts`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.hostile_texts import run, run_runtime
from pipimem.store.workspace import WorkspaceStore


@pytest.mark.slow
def test_a_sample_of_hostile_texts_takes_nothing_along() -> None:
    """Remembered, answered by a model, typed by hand, said, injected: neighbours keep their
    sections and their words.
    """
    assert not run(200, 5).first


@pytest.mark.anyio
async def test_a_bot_lives_through_a_sample_of_them(tmp_path: Path) -> None:
    """Turns answer, what was said is in the log, compactions consolidate."""
    WorkspaceStore.init(tmp_path / "bot")
    found = await run_runtime(tmp_path / "bot", 8, 5)
    assert not found.first
