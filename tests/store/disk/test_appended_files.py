"""What stands at the end of a file after an append, and its lines from either end."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import StoreError
from pipimem.store.disk import appended_files
from pipimem.store.disk.appended_files import append_synced, lines, lines_backwards


def test_an_append_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where half of it had been written."""
    path = tmp_path / "a"
    assert append_synced(path, b"first\n") == 6
    real = os.write

    def torn(descriptor: int, data: bytes) -> int:
        real(descriptor, bytes(data)[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", torn)
    with pytest.raises(StoreError, match="full"):
        append_synced(path, b"second\n")
    monkeypatch.undo()
    assert path.read_bytes() == b"first\n"
    assert append_synced(path, b"third\n", at=2) == 8
    assert path.read_bytes() == b"fithird\n"


@given(
    st.lists(st.sampled_from([b"\n", b"a\n", b"\r", b"x" * 9, b"x" * 9 + b"\n"])),
    st.integers(1, 12),
)
def test_lines_from_the_end_are_the_lines_in_reverse(parts: list[bytes], piece: int) -> None:
    """Wherever the pieces end in which the file is read."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(appended_files, "_PIECE", piece)
        path = Path(folder) / "log.jsonl"
        path.write_bytes(b"".join(parts))
        assert list(lines_backwards(path)) == list(lines(path))[::-1]
