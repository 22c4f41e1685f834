"""Several processes at one workspace: a quick sample of `python -m benchmarks.crowd`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from benchmarks.crowd import crowd


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
@pytest.mark.parametrize("kills", [False, True])
def test_nothing_is_lost_or_there_twice(tmp_path: Path, kills: bool) -> None:
    """Facts, deletions, messages, sections, checkpoints and hands, all at once; also where
    processes are killed.
    """
    found = crowd(tmp_path / "bot", 4, 25, kills=kills)
    assert (found.operations, found.losses) == (100, 0), found
