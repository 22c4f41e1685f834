"""Plain logs of messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.formats import message_log
from pipimem.runtime.transfer.formats.message_log import FORMAT
from pipimem.runtime.transfer.found import FoundMessage

from tests.runtime.transfer.formats.fixtures import fixture, found_in, left_out, said


def test_the_fields_that_people_have() -> None:
    """In CSV with a header, and in JSON Lines; who spoke without a role is a user."""
    found = fixture(FORMAT)
    assert said(found) == [
        ("user", "林晓", "上线窗口定在周四晚上九点", ""),
        ("user", "Bob", "fine, but not before nine", ""),
        ("user", "Ann", "The port is 8080", "ops"),
        ("assistant", "", "Noted.", ""),
    ]
    assert left_out(found) == [
        ("room.csv:3", "a row without content"),
        ("room.jsonl:3", "a row of the role 'moderator'"),
    ]


def test_times_in_iso_seconds_and_thousandths() -> None:
    """Each is the same moment with its offset."""
    messages = [one.message for one in fixture(FORMAT) if isinstance(one, FoundMessage)]
    assert [one.time.timestamp() for one in messages if one.time] == [
        1772413800.0, 1772413860.0, 1772413860.0, 1772413920.0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.jsonl", '{"role": "user", "content": "hi"}\n{"role": "us', "element 2: it is cut"),
        ("a.jsonl", '{"role": "user", "content": "hi"}\nnonsense', "element 2: it is cut"),
        ("a.csv", 'role,content\nuser,"hi\n', "line 2: unexpected end of data"),
        ("a.json", '[{"role": "user", "content": "hi"}, {"a": ' + "[" * 99999, "too deeply"),
    ],
)
def test_a_broken_log_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    """Nothing of it is taken for the whole."""
    (tmp_path / name).write_text(text)
    with pytest.raises(ArchiveError, match=says):
        found_in(tmp_path / name, FORMAT)


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """In both forms."""
    (tmp_path / "a.csv").write_bytes("role,content\nuser,hé\n".encode("latin-1"))
    (tmp_path / "b.jsonl").write_bytes('{"role": "user", "content": "hé"}'.encode("latin-1"))
    for name in ("a.csv", "b.jsonl"):
        with pytest.raises(ArchiveError, match=f"{name}.*(UTF-8|utf-8)"):
            found_in(tmp_path / name, FORMAT)


def test_a_session_whose_first_line_says_what_it_is(tmp_path: Path) -> None:
    """And whose messages have parts: texts are taken, a picture is not."""
    rows = [
        '{"_type": "metadata", "created_at": "2026-03-02T09:10:00"}',
        '{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image"}]}',
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(rows))
    found = found_in(tmp_path / "s.jsonl", FORMAT)
    assert said(found) == [("user", "", "hi", "")]
    assert left_out(found) == [("s.jsonl:1", "a row without content")]


def test_a_type_that_is_no_role_says_nothing_of_who_spoke(tmp_path: Path) -> None:
    """As in logs of chat platforms, whose times are seconds with more behind the point."""
    rows = [
        '{"type": "message", "user": "U1", "text": "hi", "ts": "1772413860.000216"}',
        '{"type": "ai", "text": "hello"}',
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(rows))
    found = found_in(tmp_path / "s.jsonl", FORMAT)
    assert said(found) == [("user", "U1", "hi", ""), ("assistant", "", "hello", "")]


@pytest.mark.parametrize(
    ("endless", "line"), [("x" * 5_000, 2), ("," * 5_000, 2), ('"a\n",' * 1_000, 199)]
)
def test_a_row_without_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, endless: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one line, or on many in quotes; rows of any number are read."""
    monkeypatch.setattr(message_log, "_LONGEST_ROW", 1_000)
    rows = "".join(f"user,hello {number}\n" for number in range(1_000))
    (tmp_path / "a.csv").write_text(f"role,content\n{rows}")
    assert len(found_in(tmp_path / "a.csv", FORMAT)) == 1_000
    (tmp_path / "b.csv").write_text(f"role,content\n{endless}")
    with pytest.raises(ArchiveError, match=f"b.csv, line {line}: the row is too long"):
        found_in(tmp_path / "b.csv", FORMAT)
