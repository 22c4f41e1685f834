"""A read lease tells whether somebody is writing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from pipimem.store.disk.editor_saves import Lease, is_wanted, leased
from pipimem.store.disk.files import read

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has leases")


def test_a_file_nobody_writes_is_leased(tmp_path: Path) -> None:
    """Others may read along."""
    path = tmp_path / "MEMORY.md"
    path.write_text("x")
    with path.open("rb") as one, path.open("rb") as other:
        assert [leased(one.fileno()), leased(other.fileno())] == [Lease.HELD, Lease.HELD]
        assert not is_wanted(one.fileno())


def test_an_open_editor_is_seen(tmp_path: Path) -> None:
    """Opened for writing is enough, nothing needs to be written yet; closed again, the text is
    whole.
    """
    path = tmp_path / "MEMORY.md"
    path.write_text("half a te")
    with path.open("a") as editor:
        editor.flush()
        reading = read(path, tmp_path)
        assert reading is not None
        assert (reading.text, reading.is_open) == ("half a te", True)
    reading = read(path, tmp_path)
    assert reading is not None
    assert not reading.is_open


def test_half_of_a_character_is_no_damage_while_it_is_written(tmp_path: Path) -> None:
    """A stream ends anywhere; the text counts when it is done."""
    path = tmp_path / "MEMORY.md"
    with path.open("wb", buffering=0) as editor:
        editor.write("茶".encode()[:2])
        reading = read(path, tmp_path)
    assert reading is not None
    assert (reading.text, reading.is_open) == ("", True)


def test_a_writer_waits_for_us_and_we_know(tmp_path: Path) -> None:
    """Its signal ends nobody, and it goes on as soon as we are done."""
    path = tmp_path / "MEMORY.md"
    path.write_text("x")
    descriptor = os.open(path, os.O_RDONLY)
    assert leased(descriptor) is Lease.HELD
    writer = threading.Thread(target=lambda: path.write_text("y"))
    writer.start()
    deadline = time.monotonic() + 60
    while not is_wanted(descriptor) and time.monotonic() < deadline:
        time.sleep(0.001)
    assert is_wanted(descriptor)
    assert signal.getsignal(signal.SIGURG) is signal.SIG_DFL
    os.close(descriptor)
    writer.join()
    assert path.read_text() == "y"
