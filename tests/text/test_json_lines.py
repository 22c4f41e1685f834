"""Objects on lines."""

from __future__ import annotations

from pipimem.text import json_lines

from tests.cases import each


@each("data", [b"\0" * 40 + b"{", b"{\0\0\0" * 10, b"\xff\xfe{\0}\0", '{"a": 1}'.encode("utf-16")])
def test_a_line_is_utf_8_or_none(data: bytes) -> None:
    """Zeros in the place of a line look like another encoding; nothing but UTF-8 is written."""
    assert json_lines.value(data) is None


def test_half_of_a_surrogate_pair_is_read_again() -> None:
    """A broken client sends it; it stands as an escape in the file."""
    value = {"id": "\ud83d", "text": "周五"}
    assert json_lines.value(json_lines.line(value)) == value
