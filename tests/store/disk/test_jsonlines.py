"""Lines of a file, from its beginning and from its end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.disk import jsonlines


@given(
    st.lists(st.sampled_from([b"\n", b"a\n", b"\r", b"x" * 9, b"x" * 9 + b"\n"])),
    st.integers(1, 12),
)
def test_lines_from_the_end_are_the_lines_in_reverse(parts: list[bytes], piece: int) -> None:
    """Wherever the pieces end in which the file is read."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonlines, "_PIECE", piece)
        path = Path(folder) / "log.jsonl"
        path.write_bytes(b"".join(parts))
        assert list(jsonlines.lines_backwards(path)) == list(jsonlines.lines(path))[::-1]
