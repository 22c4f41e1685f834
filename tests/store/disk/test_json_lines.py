"""Lines of a file, from its beginning and from its end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.disk import json_lines


@given(
    st.lists(st.sampled_from([b"\n", b"a\n", b"\r", b"x" * 9, b"x" * 9 + b"\n"])),
    st.integers(1, 12),
)
def test_lines_from_the_end_are_the_lines_in_reverse(parts: list[bytes], piece: int) -> None:
    """Wherever the pieces end in which the file is read."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "_PIECE", piece)
        path = Path(folder) / "log.jsonl"
        path.write_bytes(b"".join(parts))
        assert list(json_lines.lines_backwards(path)) == list(json_lines.lines(path))[::-1]


@pytest.mark.parametrize(
    "data", [b"\0" * 40 + b"{", b"{\0\0\0" * 10, b"\xff\xfe{\0}\0", '{"a": 1}'.encode("utf-16")]
)
def test_a_line_is_utf_8_or_none(data: bytes) -> None:
    """Zeros in the place of a line look like another encoding; nothing but UTF-8 is written."""
    assert json_lines.value(data) is None


def test_half_of_a_surrogate_pair_is_read_again() -> None:
    """A broken client sends it; it stands as an escape in the file."""
    value = {"id": "\ud83d", "text": "周五"}
    assert json_lines.value(json_lines.line(value)) == value
