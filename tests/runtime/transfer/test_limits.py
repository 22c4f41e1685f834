"""What is no memory of people is refused before it fills the machine's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from pipimem.errors import ArchiveError
from pipimem.notes.message import Message
from pipimem.runtime.transfer import limits
from pipimem.runtime.transfer.found import Found, FoundDay, FoundEntry, FoundMessage, Skipped
from pipimem.runtime.transfer.limits import ImportLimits

from tests.runtime.transfer.test_archives import tree, workspace
from tests.runtime.transfer.test_import_run_taking_in import imported, log, rows

DAY = date(2026, 3, 2)


def said_in(conversation: str) -> Message:
    """A message of a conversation."""
    return replace(Message.user("hi"), session=conversation)


@pytest.mark.parametrize(
    ("limit", "made", "what"),
    [
        ("_MOST_MESSAGES", lambda n: FoundMessage(Message.user("hi")), "messages"),
        (
            "_MOST_CONVERSATIONS",
            lambda n: FoundMessage(said_in(f"s{n}")),
            "conversations",
        ),
        ("_MOST_CHANNELS", lambda n: FoundEntry("a box", "x", channel=f"c{n}"), "channels"),
        ("MOST_NOTES", lambda n: FoundEntry("a box", "x"), "entries and lines of days"),
        ("MOST_NOTES", lambda n: FoundDay(DAY, ("a box",), "x"), "entries and lines of days"),
        ("_MOST_TEXT", lambda n: FoundEntry("x", "x"), "characters in entries and days"),
        ("_MOST_TEXT", lambda n: FoundDay(DAY, ("x",), "x"), "characters in entries and days"),
    ],
)
def test_one_more_than_an_import_takes_is_refused(
    monkeypatch: pytest.MonkeyPatch, limit: str, made: Callable[[int], Found], what: str
) -> None:
    """So many are taken, what is left out not counted."""
    monkeypatch.setattr(limits, limit, 3)
    counted = ImportLimits()
    for number in range(3):
        counted.count(made(number))
        counted.count(Skipped("x", "a row without content"))
    with pytest.raises(ArchiveError, match=f"more than 3 {what}"):
        counted.count(made(3))


def test_a_conversation_and_a_channel_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much was said in them; the same conversation in two channels is two."""
    monkeypatch.setattr(limits, "_MOST_CONVERSATIONS", 2)
    monkeypatch.setattr(limits, "_MOST_CHANNELS", 2)
    counted = ImportLimits()
    for channel in ("a", "b", "a", "b"):
        counted.count(FoundMessage(said_in("one"), channel))
    with pytest.raises(ArchiveError, match="more than 2 conversations"):
        counted.count(FoundMessage(said_in("two"), "a"))


def test_nothing_of_what_is_refused_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run says the same."""
    monkeypatch.setattr(limits, "_MOST_MESSAGES", 2)
    made, source = workspace(tmp_path / "a"), log(tmp_path / "x.jsonl", rows("a", "b", "c"))
    for is_dry in (True, False):
        with pytest.raises(ArchiveError, match=r"more than 2 messages.*nothing was taken in"):
            imported(made, source, is_dry=is_dry)
        assert tree(made.root) == {}
