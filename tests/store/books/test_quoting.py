"""The reasons of the usage ledger beside a forgetting."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

import pytest
from pipimem.notes.message import Message
from pipimem.notes.usage import Usage
from pipimem.store.books import quoting
from pipimem.store.books.quoting import UNQUOTED
from pipimem.store.channel import ChannelStore

REASON = "There is no message [5550199]."


def reasons(channel: ChannelStore, when: datetime, name: str = "team") -> list[str]:
    """The reasons of the ledger, after a refused call that ended then."""
    time = when.isoformat(timespec="seconds")
    channel.workspace.books.append(
        Usage(time, name, "tidy", "m", 1, 1, 0, None, 0.1, "refused", "c", REASON)
    )
    return [usage.reason for usage in channel.workspace.usages()]


def test_without_a_forgetting_a_reason_is_kept(channel: ChannelStore, now: datetime) -> None:
    """So it is for a channel that is none yet."""
    channel.append([Message.user("hi")])
    assert reasons(channel, now) == [REASON]
    assert reasons(channel, now, "elsewhere") == [REASON] * 2


def test_for_an_hour_after_a_forgetting_no_reason_is_kept(
    channel: ChannelStore, now: datetime
) -> None:
    """A thought that began before it may quote what it read; in another channel it cannot."""
    channel.append([Message.user("5550199")])
    channel.forget("5550199", keep_transcript=False, now=now)
    assert reasons(channel, now + timedelta(minutes=59)) == [UNQUOTED]
    assert reasons(channel, now + timedelta(minutes=61)) == [UNQUOTED, REASON]
    assert reasons(channel, now, "elsewhere") == [UNQUOTED, REASON, REASON]


def test_a_forgetting_that_was_cut_off_counts(channel: ChannelStore, now: datetime) -> None:
    """It is finished by the next writer."""
    channel.append([Message.user("hi")])
    (channel.folder / ".pipimem/forget.json").write_text("{}")
    assert reasons(channel, now) == [UNQUOTED]


def test_a_reason_does_not_wait_for_a_forgetting(
    channel: ChannelStore, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another process holds the channel, the line is written without it."""
    monkeypatch.setattr(quoting, "_PATIENCE", 0.0)
    channel.append([Message.user("hi")])
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with channel._lock.held():
            held.set()
            done.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(60)
    try:
        assert reasons(channel, now) == [UNQUOTED]
    finally:
        done.set()
        other.join()
