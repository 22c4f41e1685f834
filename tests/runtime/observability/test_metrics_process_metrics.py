"""The figures of a process are those of the system."""

from __future__ import annotations

import os
import time
from pathlib import Path

from pipimem.runtime.observability import metric_names as names
from pipimem.runtime.observability.metrics import measure_process


def test_the_figures_of_this_process() -> None:
    """It began before now, holds some memory, and has a file more open while one is."""
    before = dict(measure_process())
    with Path(os.devnull).open("rb"):
        during = dict(measure_process())
    assert during[names.PROCESS_FILES][()] == before[names.PROCESS_FILES][()] + 1  # type: ignore[operator]
    assert 1e6 < before[names.PROCESS_MEMORY][()] < 1e11  # type: ignore[operator]
    assert time.time() - 86_400 < before[names.PROCESS_START][()] < time.time()  # type: ignore[operator]
    assert 0 < before[names.PROCESS_CPU][()] <= during[names.PROCESS_CPU][()]  # type: ignore[operator]


def test_without_proc_there_is_what_python_knows(tmp_path: Path) -> None:
    """As on macOS."""
    assert [metric for metric, _ in measure_process(tmp_path / "self")] == [names.PROCESS_CPU]
