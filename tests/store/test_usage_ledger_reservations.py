"""What requests under way may cost, on disk, and the reasons of the usage ledger beside a
forgetting.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.notes.usage import Reservation, Usage
from pipimem.store import usage_ledger
from pipimem.store.channel import ChannelStore
from pipimem.store.usage_ledger import UNQUOTED, UsageStore

HOLD = Reservation(
    "2026-03-02T09:00:00+08:00", "2026-03-02T09:02:00+08:00", "团队", "refresh", "openai/m", 900, 4000, None, "c1", "ab"
)  # fmt: skip


def test_a_hold_is_seen_until_it_is_released(tmp_path: Path) -> None:
    """By anybody who looks at the folder; released twice, the second says so."""
    holds, others = UsageStore(tmp_path), UsageStore(tmp_path)
    assert others.held() == {}
    first, second = holds.place(HOLD), holds.place(HOLD)
    assert others.held() == {first: HOLD, second: HOLD}
    assert (holds.release(first), others.held()) == (True, {second: HOLD})
    assert holds.release(first) is False


def test_what_a_killed_process_of_the_same_number_left_stays(tmp_path: Path) -> None:
    """In a container every process may be number 1."""
    holds = UsageStore(tmp_path)
    left = holds.place(HOLD)
    assert holds.place(HOLD) != left
    assert len(holds.held()) == 2


def test_a_name_does_not_come_again(tmp_path: Path) -> None:
    """What was taken away by others, for its time was over, is not released once more under
    another's name.
    """
    mine, theirs = UsageStore(tmp_path), UsageStore(tmp_path)
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
    assert UsageStore(tmp_path).held() == {}


def test_a_disk_that_refuses_is_told(tmp_path: Path) -> None:
    """Without a hold nothing is sent."""
    (tmp_path / "holds").write_text("something else", encoding="utf-8")
    with pytest.raises(StoreError, match="holds"):
        UsageStore(tmp_path).place(HOLD)


# ── the reasons beside a forgetting ──

REASON = "There is no message [5550199]."


def reasons(channel: ChannelStore, when: datetime, name: str = "team") -> list[str]:
    """The reasons of the ledger, after a refused call that ended then."""
    time = when.isoformat(timespec="seconds")
    channel.workspace.usage_store.append(
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
    monkeypatch.setattr(usage_ledger, "_LOCK_SECONDS", 0.0)
    channel.append([Message.user("hi")])
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with channel.channel_folder.lock.held():
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
