"""Talk that waits: synced, each message once, and nothing lost to whoever takes it in."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem import Message
from pipimem.store.transcript import spool as module
from pipimem.store.transcript.spool import TalkSpool


def texts(spool: TalkSpool) -> list[str]:
    return [message.content for message in spool.messages()]


def test_what_is_kept_has_ids_and_numbers(tmp_path: Path) -> None:
    """Given now, so that taking it in twice doubles nothing; a message of a host keeps its own."""
    spool = TalkSpool(tmp_path / "spool", "here")
    kept = spool.append([Message.user("one", id="a"), Message.user("two")], after=7)
    assert [message.number for message in kept] == [8, 9]
    assert kept[0].id == "a"
    assert kept[1].id.startswith("spooled-")
    assert list(spool.messages()) == list(kept)


def test_a_message_that_waits_twice_is_one(tmp_path: Path) -> None:
    """A gate hands in what after_turn handed in before."""
    spool = TalkSpool(tmp_path / "spool", "here")
    for _ in range(2):
        spool.append([Message.user("one", id="a")], after=0)
    assert texts(spool) == ["one"]


def test_all_hosts_see_what_waits(tmp_path: Path) -> None:
    """The oldest file first; what is taken is out of its writer's reach, and goes when dropped."""
    here, there = TalkSpool(tmp_path / "spool", "here"), TalkSpool(tmp_path / "spool", "there")
    here.append([Message.user("one")], after=0)
    there.append([Message.user("two")], after=0)
    assert texts(there) == ["one", "two"]
    taken = there.taken()
    assert [message.content for _, messages in taken for message in messages] == ["one", "two"]
    here.append([Message.user("three")], after=0)
    for path, _ in taken:
        there.drop(path)
    assert texts(there) == ["three"]


def test_who_was_suspended_in_an_append_appends_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file was taken in between the writing and the acknowledgement: the message waits anew."""
    here, there = TalkSpool(tmp_path / "spool", "here"), TalkSpool(tmp_path / "spool", "there")
    here.append([Message.user("one")], after=0)
    real, asked = module.sync_data, []

    def suspended(descriptor: int) -> None:
        real(descriptor)
        if not asked:
            asked.extend(there.taken())
            there.drop(asked[0][0])

    monkeypatch.setattr(module, "sync_data", suspended)
    here.append([Message.user("two", id="b")], after=0)
    assert texts(here) == ["two"]
    assert [message.content for _, messages in asked for message in messages] == ["one", "two"]
