"""The storm's judge: which deletions no text could have told from an older buffer, and no other."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from benchmarks.races.hands import Save
from benchmarks.races.judging import is_ambiguous, looks, story
from benchmarks.races.storm import fact, opened
from pipimem.store.channel import ChannelStore

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
LINE = "- quartz viburnum jackdaw\n"


@pytest.fixture
def channel(tmp_path: Path) -> ChannelStore:
    """A channel that knows one fact."""
    (tmp_path / "channels").mkdir()
    channel = opened(tmp_path)
    channel.commit(fact("oxbow lymph zephyr"), NOW)
    return channel


def saved(channel: ChannelStore, old: str, new: str, typed: str = "", deleted: str = "") -> Save:
    """What a hand that has the text `old` leaves in the file, seen by the runtime."""
    (channel.folder / "MEMORY.md").write_text(new)
    channel.commit(fact(f"noticed {len(list(channel.changes()))}"), NOW)
    return Save(old, is_read=True, text=new, typed=typed, deleted=deleted)


def judged(channel: ChannelStore, past: list[Save]) -> tuple[bool, bool]:
    """Whether the line stands, and what the judge says of its deletion."""
    seen = list(looks(channel, past))
    assert story(LINE, past, seen).startswith("- quartz")
    return LINE in (channel.folder / "MEMORY.md").read_text(), is_ambiguous(LINE, past, seen)


def test_the_same_bytes_from_two_intentions_are_ambiguous(channel: ChannelStore) -> None:
    """The newest line goes in one save with another that comes: so would an older buffer look
    with that line added.
    """
    old = (channel.folder / "MEMORY.md").read_text()
    first = saved(channel, old, old + LINE, typed=LINE)
    then = saved(
        channel, first.text, old + "- plinth scuba dwarf\n", "- plinth scuba dwarf\n", LINE
    )
    assert judged(channel, [first, then]) == (True, True)


def test_a_text_that_shows_that_its_writer_read_on_is_not(channel: ChannelStore) -> None:
    """A line that came with or after the deleted one stands in it: it is deleted, and were it
    back, that would count.
    """
    old = (channel.folder / "MEMORY.md").read_text()
    other = "- plinth scuba dwarf\n"
    first = saved(channel, old, old + LINE + other, typed=LINE)
    then = saved(
        channel, first.text, old + other + "- mango kiwi fjord\n", "- mango kiwi fjord\n", LINE
    )
    assert judged(channel, [first, then]) == (False, False)


def test_a_line_that_comes_back_after_its_deletion_was_seen_is_lost_ground(
    channel: ChannelStore,
) -> None:
    """Whatever brings it back later: the first look had told."""
    old = (channel.folder / "MEMORY.md").read_text()
    first = saved(channel, old, old + LINE, typed=LINE)
    then = saved(channel, first.text, old, "", LINE)
    path = channel.folder / "MEMORY.md"
    path.write_text(path.read_text() + LINE)
    channel.commit(fact("noticed too"), NOW)
    assert judged(channel, [first, then]) == (True, False)
