"""A workspace of pipiclaw."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.pipiclaw import FORMAT
from pipimem.runtime.transfer.found import FoundEntry

from tests.runtime.transfer.formats.fixtures import (
    CASES,
    days,
    entries,
    fixture,
    found_in,
    left_out,
    said,
)


def test_entries_with_their_ids_kinds_and_times() -> None:
    """Of an `Update` block the kind stands in the metadata; a channel's / is two underscores."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("preference", "回答用中文"),
        ("constraint", "The staging database has port 5432"),
        ("decision", "周五不发布"),
    ]
    kept = [one for one in found if isinstance(one, FoundEntry)]
    assert [(one.channel, one.origin) for one in kept] == [
        ("dm_alice", "dm_alice/MEMORY.md#m-1a2b3c4d"),
        ("dm_alice", "dm_alice/MEMORY.md#m-5e6f7a8b"),
        ("group_cid/AZ==", "group_cid__AZ==/MEMORY.md#m-0f0f0f0f"),
    ]
    assert [one.when.isoformat() if one.when else "" for one in kept] == [
        "2026-03-01T08:00:00+08:00", "2026-03-02T09:10:00+08:00", "",
    ]  # fmt: skip


def test_days_and_messages() -> None:
    """An answer has another id than what it answers, though their times are the same."""
    found = fixture(FORMAT)
    assert days(found) == [
        ("2026-02-28", ("February: the gateway was rewritten",)),
        ("2026-03-02", ("The release went out on Monday",)),
    ]
    assert said(found) == [
        ("user", "Alice", "Which port has staging?", "dm_alice"),
        ("assistant", "", "5432.", "dm_alice"),
    ]
    assert left_out(found) == [
        ("dm_alice/MEMORY.md#m-33333333", "it was deleted there"),
        ("dm_alice/log.jsonl:3", "a message without text"),
        ("dm_alice/SESSION.md", "what was going on then"),
    ]


def test_what_was_deleted_there_stays_out_unless_it_was_asked_for_anew() -> None:
    """Known by its text, however it is spaced, or by its id; what was kept after that comes in."""
    found = fixture(FORMAT)
    assert ("preference", "回答用中文") in entries(found)
    assert "The WIFI" not in " ".join(text for _, text in entries(found))
    assert ("dm_alice/MEMORY.md#m-33333333", "it was deleted there") in left_out(found)


def test_to_dos_and_brackets_are_taken_in() -> None:
    """Under the heading of to-dos a ticked box is a fact."""
    found = found_in(CASES / "pipiclaw-to-dos", FORMAT)
    assert entries(found) == [
        ("open_loop", "[ ] renew the lease by 30 November"),
        ("fact", "[x] order the paint"),
        ("open_loop", "(the spare key is at number 12)"),
    ]
    assert left_out(found) == []
