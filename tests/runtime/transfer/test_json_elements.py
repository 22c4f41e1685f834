"""Long JSON files, element by element."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer import json_elements
from pipimem.runtime.transfer.json_elements import JsonElements

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
        patch.setattr(json_elements, "_PIECE", piece)
        assert list(JsonElements(io.BytesIO(text.encode()), "x")) == wanted


def test_an_element_without_an_end_is_refused_before_it_fills_the_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file of gigabytes that never closes a string."""
    monkeypatch.setattr(json_elements, "_LONGEST", 10_000)
    monkeypatch.setattr(json_elements, "_PIECE", 1_000)
    data = b'["' + b"x" * 1_000_000
    file = io.BytesIO(data)
    elements = JsonElements(file, "x")
    with pytest.raises(ArchiveError, match="it is no JSON, or too long"):
        list(elements)
    assert file.tell() < 100_000
