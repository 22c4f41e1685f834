"""What a killed bot acknowledged and had not stored is forgotten, too, and nothing else of it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.arrivals import Arrival, arrival_line, arrivals_path, read_arrivals
from pipimem.store.channel import ChannelStore
from pipimem.store.forget import log_lines as module
from pipimem.store.forget.traces import traces

from tests.store.conftest import NOW


def arrival(number: int, text: str, channel: str = "team", title: str = "The team") -> Arrival:
    """A message that the platform delivered."""
    message = Message.user(text, id=f"p{number}", time=NOW, speaker="alice")
    return Arrival(channel, message, "group", title)


@pytest.fixture
def left(channel: ChannelStore) -> Path:
    """What a killed bot left: of this channel, of another, and a line that is torn."""
    path = arrivals_path(channel.workspace.root, "dingtalk")
    lines = [
        arrival_line(arrival(1, "my number is 555 0199")),
        arrival_line(arrival(2, "lunch?")),
        b'{"channel": "team", "message": {"content": "call 555  0199 now"\n',
        arrival_line(arrival(3, "mine is 555 0199 as well", "others")),
        arrival_line(arrival(4, "see you", title="Phone 555 0199")),
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def forgotten(channel: ChannelStore, text: str, now: datetime, **more: bool) -> dict[str, int]:
    """Forgets, and says how much held it by place."""
    keep = more.get("keep_transcript", False)
    return channel.forget(text, keep_transcript=keep, now=now).places


def test_arrivals_are_emptied_and_keep_their_ids(
    channel: ChannelStore, left: Path, now: datetime
) -> None:
    """Delivered again they are known; another channel's and those without the words stay."""
    size = left.stat().st_size
    places = forgotten(channel, "555 0199", now)
    assert places == {"workspace/.pipimem/dingtalk-arrivals.jsonl": 3}
    found, damaged = read_arrivals(left)
    assert [(one.message.id, one.message.content, one.title) for one in found] == [
        ("p1", "", "The team"),
        ("p2", "lunch?", "The team"),
        ("p3", "mine is 555 0199 as well", "The team"),
        ("p4", "see you", ""),
    ]
    assert damaged == 0
    assert left.stat().st_size == size  # whoever appends meanwhile is not disturbed
    assert [trace.line for trace in traces([left], "555 0199")] == [5]  # the other channel's
    assert forgotten(channel, "555 0199", now) == {}


def test_a_message_is_emptied_by_its_id(channel: ChannelStore, left: Path, now: datetime) -> None:
    """As the platform took it back."""
    assert channel.forget(["log:p2"], keep_transcript=False, now=now).counts["arrivals"] == 1
    assert [one.message.content for one in read_arrivals(left)[0]][1] == ""


def test_a_transcript_that_is_kept_keeps_what_is_on_its_way(
    channel: ChannelStore, left: Path, now: datetime
) -> None:
    """`keep_transcript` means what was said, wherever it stands."""
    before = left.read_bytes()
    assert forgotten(channel, "555 0199", now, keep_transcript=True) == {}
    assert left.read_bytes() == before


def test_a_file_written_anew_between_look_and_blank_loses_nothing_else(
    channel: ChannelStore, left: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands at the place now is another message: the places are looked for again."""
    real, rewritten = module.opened, []

    def opened(path: Path, flags: int) -> int:
        if not rewritten:
            rewritten.append(True)
            lines = left.read_bytes().splitlines(keepends=True)
            left.unlink()
            left.write_bytes(b"".join(reversed(lines)))
        return real(path, flags)

    monkeypatch.setattr(module, "opened", opened)
    forgotten(channel, "555 0199", now)
    said = {one.message.id: one.message.content for one in read_arrivals(left)[0]}
    assert said == {"p1": "", "p2": "lunch?", "p3": "mine is 555 0199 as well", "p4": "see you"}


def test_a_file_that_is_gone_by_then_holds_nothing(
    channel: ChannelStore, left: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot stored all and removed it."""
    real = module.opened

    def opened(path: Path, flags: int) -> int:
        left.unlink()
        return real(path, flags)

    monkeypatch.setattr(module, "opened", opened)
    forgotten(channel, "555 0199", now)
    assert not left.exists()


def test_a_forgetting_that_is_cut_off_there_goes_on_with_the_next_writing(
    channel: ChannelStore, left: Path, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk refused, or the process was killed."""
    real = os.write

    def refuse(descriptor: int, data: bytes) -> int:
        if not bytes(data).strip() or b'"id": "p' in bytes(data):
            raise OSError(28, "no space left on device")
        return real(descriptor, data)

    with monkeypatch.context() as full:
        full.setattr(module.os, "write", refuse)
        with pytest.raises(StoreError):
            forgotten(channel, "555 0199", now)
    again = ChannelStore.open(channel.workspace, "team", create=False)
    again.record_edits(now)
    assert [trace.line for trace in traces([left], "555 0199")] == [5]
