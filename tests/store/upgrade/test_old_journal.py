"""Journals of older formats: what a crash has torn was never acknowledged, damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.store.upgrade.old_journal import read_journal
from pipimem.text.json_lines import checked_line, checksum_of


def _rows(*fields: dict[str, object], name: str = "0123456789abcdef") -> list[bytes]:
    """The lines of a journal; each checksum goes over the one before where it has a name."""
    rows = [checked_line({"format": 2, "journal": name, "channel": "c"})] if name else []
    for number, each in enumerate(fields, 1):
        previous = checksum_of(rows[-1]) if name else ""
        record = {"seq": number, "ts": "2026-11-20T09:10:00+08:00", "task": "t", "author": "model"}
        rows.append(checked_line({**record, **each}, previous))
    return rows


def _numbers(path: Path, data: bytes) -> tuple[list[int], int | None]:
    path.write_bytes(data)
    found = read_journal([path])
    return [change.record.sequence for change in found.changes], found.damage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal lies."""
    return tmp_path / "journal.jsonl"


@pytest.mark.parametrize("name", ["", "0123456789abcdef"])
def test_both_formats_are_read(path: Path, name: str) -> None:
    """Format 1 has no header, and its checksums do not go over the ones before."""
    assert _numbers(path, b"".join(_rows({}, {}, name=name))) == ([1, 2], None)


def test_a_torn_last_line_was_never_acknowledged(path: Path) -> None:
    """It counts as if it were not there."""
    assert _numbers(path, b"".join(_rows({}, {}))[:-9]) == ([1], None)


def test_of_lines_written_as_one_all_count_or_none(path: Path) -> None:
    """Wherever the append was cut off, in the order in which a power cut keeps blocks, too."""
    rows = _rows({}, {"goes_on": True}, {"follows": True})
    assert _numbers(path, b"".join(rows)) == ([1, 2, 3], None)
    assert _numbers(path, b"".join(rows[:3])) == ([1], None)
    torn = rows[2][:20] + b"\0" * 20 + rows[2][40:]
    assert _numbers(path, b"".join((*rows[:2], torn, rows[3]))) == ([1], None)


def test_a_damaged_line_is_told_and_the_others_are_read(path: Path) -> None:
    """Whoever folds them sees by the numbers what is missing."""
    rows = _rows({}, {}, {})
    rows[2] = rows[2].replace(b'"t"', b'"x"')
    assert _numbers(path, b"".join(rows)) == ([1, 3], 1)


def test_a_line_that_follows_another_one_is_damaged(path: Path) -> None:
    """A copy of an older time with newer lines behind it tells nothing that never was."""
    rows = _rows({}, {"why": "a"}, {})
    others = _rows({}, {"why": "b"}, {})
    assert _numbers(path, b"".join((*rows[:3], others[3], others[3]))) == ([1, 2], 2)
