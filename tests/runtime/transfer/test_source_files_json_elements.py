"""Long JSON files, element by element."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer import source_files
from pipimem.runtime.transfer.source_files import JsonElements

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(st.lists(values), st.integers(1, 40), st.booleans())
def test_the_elements_are_those_of_the_whole(rows: list[Any], piece: int, is_array: bool) -> None:
    """However small the pieces are that are read, as an array and as lines."""
    text = (
        json.dumps(rows) if is_array else "\n".join(map(json.dumps, [{"v": row} for row in rows]))
    )
    wanted = rows if is_array else [{"v": row} for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source_files, "_PIECE", piece)
        assert list(JsonElements(io.BytesIO(text.encode()), "x")) == wanted


def test_an_element_without_an_end_is_refused_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file of gigabytes that never closes a string."""
    monkeypatch.setattr(source_files, "_LONGEST", 10_000)
    monkeypatch.setattr(source_files, "_PIECE", 1_000)
    data = b'["' + b"x" * 1_000_000
    file = io.BytesIO(data)
    elements = JsonElements(file, "x")
    with pytest.raises(ArchiveError, match="it is no JSON, or too long"):
        list(elements)
    assert file.tell() < 100_000


@pytest.mark.parametrize("values", ["{},", "[],", '"",', "0,"])
def test_an_element_of_too_many_values_is_refused_before_they_are_made(
    values: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty object has two characters and takes sixty bytes."""
    monkeypatch.setattr(source_files, "_MOST_VALUES", 100_000)
    monkeypatch.setattr(source_files, "_PIECE", 1_000)
    file = io.BytesIO(b"[[" + values.encode() * 1_000_000)
    elements = JsonElements(file, "x")
    with pytest.raises(ArchiveError, match="element 1: it has too many values"):
        list(elements)
    assert file.tell() < 200_000


def test_many_short_elements_are_no_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many values all of them have together."""
    monkeypatch.setattr(source_files, "_MOST_VALUES", 10_000)
    monkeypatch.setattr(source_files, "_PIECE", 100)
    rows = [{"a": [number, {}]} for number in range(2_000)]
    assert list(JsonElements(io.BytesIO(json.dumps(rows).encode()), "x")) == rows


@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_a_rare_sign_does_not_widen_the_text_around_it(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One emoji would make each character of a long conversation take four bytes."""
    monkeypatch.setattr(source_files, "_PIECE", piece)
    monkeypatch.setattr(source_files, "_ESCAPED_AT_ONCE", 2)
    row = {"a": 'x 😀 字 \\ " 𠀀' * 5, "😀": 1}
    elements = JsonElements(io.BytesIO(json.dumps([row], ensure_ascii=False).encode()), "x")
    assert list(elements) == [row]
    assert max(elements._text, default="") < "\U00010000"
