"""`recall.json`: how recall did, over all processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.store.caches import figures as figures_file
from pipimem.store.caches.figures import LATEST, Kept


def test_figures_of_several_processes_are_added_up(tmp_path: Path) -> None:
    """Counts are summed; of the waits the latest stay."""
    figures_file.add(tmp_path, Kept(2, 3, 1, (1.0, 9.0)))
    figures_file.add(tmp_path, Kept(LATEST, LATEST, 0, (2.0,) * (LATEST - 1)))
    kept = figures_file.load(tmp_path)
    assert (kept.turns, kept.looks, kept.hits) == (LATEST + 2, LATEST + 3, 1)
    assert kept.waits == (9.0, *(2.0,) * (LATEST - 1))


def test_the_wait_of_a_share_of_turns(tmp_path: Path) -> None:
    """Half of them waited at most this long; where there was no turn nothing is claimed."""
    assert Kept(waits=tuple(map(float, range(100)))).wait(0.5) == 50.0
    assert Kept(waits=tuple(map(float, range(100)))).wait(0.95) == 95.0
    assert figures_file.load(tmp_path).wait(0.5) is None


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"turns": "many"}', b"\xff\x00"])
def test_a_damaged_file_counts_from_nothing(tmp_path: Path, damaged: bytes) -> None:
    """It is disposable: nobody is bothered with it."""
    (tmp_path / figures_file.NAME).write_bytes(damaged)
    assert figures_file.load(tmp_path) == Kept()
    figures_file.add(tmp_path, Kept(1, 1, 0, (1.5,)))
    assert figures_file.load(tmp_path) == Kept(1, 1, 0, (1.5,))
