"""What requests under way may cost, on disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.usage import Hold
from pipimem.store.books.books import Books

HOLD = Hold(
    "2026-03-02T09:00:00+08:00", "2026-03-02T09:02:00+08:00", "团队", "refresh", "openai/m", 900, 4000, None, "c1", "ab"
)  # fmt: skip


def test_a_hold_is_seen_until_it_is_released(tmp_path: Path) -> None:
    """By anybody who looks at the folder; released twice, the second says so."""
    holds, others = Books(tmp_path), Books(tmp_path)
    assert others.held() == {}
    first, second = holds.place(HOLD), holds.place(HOLD)
    assert others.held() == {first: HOLD, second: HOLD}
    assert (holds.release(first), others.held()) == (True, {second: HOLD})
    assert holds.release(first) is False


def test_what_a_killed_process_of_the_same_number_left_stays(tmp_path: Path) -> None:
    """In a container every process may be number 1."""
    holds = Books(tmp_path)
    left = holds.place(HOLD)
    assert holds.place(HOLD) != left
    assert len(holds.held()) == 2


def test_a_name_does_not_come_again(tmp_path: Path) -> None:
    """What was taken away by others, for its time was over, is not released once more under another's name."""
    mine, theirs = Books(tmp_path), Books(tmp_path)
    name = mine.place(HOLD)
    assert theirs.release(name)
    other = theirs.place(HOLD)
    assert not mine.release(name)
    assert list(theirs.held()) == [other]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"time": "x"}', b'{"until": 3}'])
def test_what_is_no_hold_is_passed_over(tmp_path: Path, content: bytes) -> None:
    """A process killed while it wrote has sent nothing."""
    (tmp_path / "holds").mkdir()
    (tmp_path / "holds/1-0.json").write_bytes(content)
    assert Books(tmp_path).held() == {}


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    """Without a hold nothing is sent."""
    (tmp_path / "holds").write_text("something else", encoding="utf-8")
    with pytest.raises(StoreError, match="holds"):
        Books(tmp_path).place(HOLD)
