"""What is left of a text, looked for in every byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipimem.store.forget.traces import traces

TEXT = "Anna's number is 555 0199，住在\u201c灯笼街\u201d"


def places(folder: Path, text: str = TEXT) -> list[tuple[str, int]]:
    """File and line of each trace."""
    return [(trace.path.name, trace.line) for trace in traces([folder], text)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (TEXT.encode(), 1),
        (f"x\n- {TEXT.upper()} y\n".encode(), 2),
        (TEXT.replace(" ", " \t\u3000").encode(), 1),
        (f"{{}}\n{json.dumps({'a': TEXT})}\n".encode(), 2),
        (json.dumps({"a": [TEXT]}, ensure_ascii=False).encode(), 1),
        ("- Anna's number\n  is 555\n- 0199，住在“灯笼街”".encode(), 0),
        (TEXT.encode("utf-16"), 1),
        (b"\xff\x00" + TEXT.encode("utf-16-le"), 0),
        (b"\xff\xfe\xfd\xff" + TEXT.encode() + b"\xff", 0),
        (TEXT.replace("5", "５").encode(), 1),
        (('{"cut": "' + json.dumps(TEXT)[1:]).encode(), 1),
    ],
)
def test_every_spelling_is_found(tmp_path: Path, content: bytes, line: int) -> None:
    """In text and JSON, escaped or not, over lines, in wide characters, in a torn line, among
    rubbish.
    """
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file").write_bytes(content)
    found = places(tmp_path)
    assert [name for name, _ in found] == ["file"]
    assert line in (0, found[0][1])


def test_what_is_not_there_is_not_found(tmp_path: Path) -> None:
    """Nor is the empty text; a file's name counts."""
    (tmp_path / "file").write_bytes(b"Anna's number is 555 0198\n")
    (tmp_path / "555 0199.md").write_bytes(b"")
    assert places(tmp_path) == []
    assert places(tmp_path, " \n") == []
    assert places(tmp_path, "555 0199") == [("555 0199.md", 0)]


def test_half_of_a_surrogate_pair_is_looked_for_as_well(tmp_path: Path) -> None:
    """An argument that is no UTF-8 comes from a shell like that."""
    (tmp_path / "a.md").write_text("abc", encoding="utf-8")
    assert places(tmp_path, "abc\udcff") == []


def test_the_inside_of_words_counts_on_request_and_in_what_is_no_text(tmp_path: Path) -> None:
    """Whoever forgot Tom is not told of tomorrow; between bytes that are no text no word ends."""
    (tmp_path / "notes.md").write_text('- tomorrow\n{"a": "x\\nTom"}\n')
    (tmp_path / "words.bin").write_bytes(b"\xfftomorrow")
    places = [(trace.path.name, trace.line) for trace in traces([tmp_path], "Tom")]
    assert places == [("notes.md", 2), ("words.bin", 1)]
    assert [trace.line for trace in traces([tmp_path / "notes.md"], "Tom", inside_words=True)] == [
        1,
        2,
    ]
