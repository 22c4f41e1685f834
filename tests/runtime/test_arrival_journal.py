"""The arrival journal: what it holds is durable, clean, and gone once it is stored."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.runtime import arrival_journal as module
from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal
from pipimem.store.workspace import WorkspaceStore

AT = datetime(2026, 11, 23, 10, 0, tzinfo=UTC)


@pytest.fixture
def pipimem(tmp_path: Path) -> Pipimem:
    """A workspace that nobody has opened."""
    WorkspaceStore.init(tmp_path / "bot")
    return Pipimem(tmp_path / "bot", "offline")


@pytest.fixture
def journal(pipimem: Pipimem) -> ArrivalJournal:
    """The journal of a bot."""
    return ArrivalJournal.of(pipimem, "dingtalk")


def arrival(number: int, text: str = "hello", *, is_taken_back: bool = False) -> Arrival:
    """Message `number` of a group."""
    message = Message.user(text, id=f"msg{number}==", time=AT, speaker="林晓")
    return Arrival("cidGroup==", message, "group", "发布群", is_taken_back)


def after_a_kill(journal: ArrivalJournal) -> ArrivalJournal:
    """The journal as the next process finds it."""
    return ArrivalJournal.of(journal.pipimem, "dingtalk")


def test_what_was_added_is_there_after_a_kill(journal: ArrivalJournal) -> None:
    """In its order, with all that the transcript keeps of it, for the owner alone."""
    journal.commit([arrival(1), arrival(2)], ())
    journal.commit([arrival(3)], ())
    assert after_a_kill(journal).left() == [arrival(1), arrival(2), arrival(3)]
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_a_commit_waits_for_the_disk_once(
    journal: ArrivalJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many messages wait for it."""
    journal.commit([arrival(0)], ())
    synced: list[int] = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (synced.append(fd), real(fd)))
    journal.commit([arrival(number) for number in range(1, 100)], ())
    assert len(synced) == 1


def test_what_is_over_leaves_no_byte(journal: ArrivalJournal) -> None:
    """As soon as nothing else waits the file is gone."""
    journal.commit([arrival(1), arrival(2)], ())
    journal.commit((), [arrival(1).key])
    assert after_a_kill(journal).left() == [arrival(1), arrival(2)]
    journal.commit((), [arrival(2).key])
    assert not journal.path.exists()


def test_one_that_waits_long_does_not_keep_all_others(
    journal: ArrivalJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is written anew without them."""
    monkeypatch.setattr(module, "_MOST_OVER", 8)
    journal.commit([arrival(0, "stays")], ())
    for number in range(1, 40):
        journal.commit([arrival(number)], [arrival(number - 1).key] if number > 1 else ())
        assert journal.path.read_bytes().count(b"\n") <= 12
    left = after_a_kill(journal).left()
    assert (left[0], left[-1]) == (arrival(0, "stays"), arrival(39))


def test_what_is_private_or_secret_is_never_written(journal: ArrivalJournal) -> None:
    """Nor in names and titles."""
    said = "<private>the cake</private> my password is hunter2-Xy77zz, ok?"
    message = Message.user(said, id="m1", time=AT, speaker="Tom <private>Ng</private>")
    journal.commit([Arrival("c", message, "dm", "token=ghp_" + "a1B2" * 9)], ())
    data = journal.path.read_bytes()
    for secret in (b"cake", b"hunter2", b"Ng", b"ghp_a1B2"):
        assert secret not in data
    (found,) = after_a_kill(journal).left()
    assert found.message.content.startswith("[PRIVATE] my password is [secret:")


def test_a_message_taken_back_comes_without_its_words(journal: ArrivalJournal) -> None:
    """Its id stays, so that it is known when it is delivered again."""
    journal.commit([arrival(1, "the surprise is a bike")], ())
    journal.commit([arrival(1, "", is_taken_back=True)], ())
    assert after_a_kill(journal).left() == [arrival(1, ""), arrival(1, "", is_taken_back=True)]


@pytest.mark.parametrize("damage", [b'{"channel": "c", "mess', b"\n", b"\xff\x00garbage\n", b"{}"])
def test_a_torn_line_costs_no_other(journal: ArrivalJournal, damage: bytes) -> None:
    """Power was lost in the middle of a write; what comes next is whole again."""
    journal.commit([arrival(1)], ())
    with journal.path.open("ab") as file:
        file.write(damage)
    again = after_a_kill(journal)
    assert again.left() == [arrival(1)]
    again.commit([arrival(2)], ())
    assert after_a_kill(journal).left() == [arrival(1), arrival(2)]


def test_what_a_forgetting_left_is_no_damage(
    journal: ArrivalJournal, caplog: pytest.LogCaptureFixture
) -> None:
    """Blanks of the same length: the rest is read, and gone on with."""
    journal.commit([arrival(1), arrival(2)], ())
    first, second = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(first + b" " * (len(second) - 1) + b"\n")
    again = after_a_kill(journal)
    assert again.left() == [arrival(1)]
    again.commit([arrival(3)], ())
    assert after_a_kill(journal).left() == [arrival(1), arrival(3)]
    assert "damaged" not in caplog.text


def test_a_changed_line_counts_for_nothing(journal: ArrivalJournal) -> None:
    """Nobody said that."""
    journal.commit([arrival(1)], ())
    journal.path.write_bytes(journal.path.read_bytes().replace(b"hello", b"hullo"))
    assert after_a_kill(journal).left() == []


def test_a_disk_that_refused_is_written_to_again(
    journal: ArrivalJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was refused is there, too, once the disk takes something."""
    journal.commit([arrival(1)], ())

    def refuse(*_: object, **__: object) -> int:
        raise StoreError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(module, "append_synced", refuse)
        with pytest.raises(StoreError):
            journal.commit([arrival(2)], ())
    journal.commit([arrival(3)], ())
    assert after_a_kill(journal).left() == [arrival(1), arrival(2), arrival(3)]


def test_a_removed_folder_is_made_again(journal: ArrivalJournal) -> None:
    """`.pipimem/` may be deleted under a running bot."""
    journal.commit([arrival(1)], ())
    journal.path.unlink()
    journal.path.parent.rename(journal.path.parent.with_name("gone"))
    journal.commit([arrival(2)], ())
    assert after_a_kill(journal).left() == [arrival(2)]
