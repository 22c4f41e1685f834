"""The state a journal tells: the ledger, kept up, and the text each file was left with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.journal import state as states
from pipimem.store.journal.journal import NOWHERE, Journal, Place
from pipimem.store.journal.state import State, fresh_ledger

Add = Callable[..., Decision]


def loaded(channel: ChannelStore) -> State:
    """The state as another process reads it."""
    return State.load(channel.folder, channel.transcript, lambda: None)


@pytest.fixture
def thrice(channel: ChannelStore, now: datetime, add: Add) -> tuple[ChannelStore, list[str]]:
    """A channel after three commits, with the text of MEMORY.md after each."""
    texts = []
    for fact in ("bob likes tea", "carol likes coffee", "dave likes water"):
        channel.commit(add(fact), now)
        texts.append((channel.folder / File.MEMORY).read_text())
    return channel, texts


def test_it_catches_up_with_what_others_commit(channel: ChannelStore, now: datetime, add: Add) -> None:
    """Their records are folded in, each once, also over a checkpoint of theirs."""
    channel.commit(add("bob likes tea"), now)
    state = loaded(channel)
    assert state.ledger.sequence == 1
    channel.commit(add("carol likes coffee"), now)
    state.catch_up()
    state.catch_up()
    assert (state.ledger, state.ledger.sequence) == (channel.ledger, 2)
    channel.checkpoint()
    channel.commit(add("dave likes water"), now)
    state.catch_up()
    assert (state.ledger, state.ledger.sequence) == (channel.ledger, 3)


def test_a_journal_set_aside_while_a_state_begins_is_noticed(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the place of the checkpoint and the reading from there, another process rotates."""
    channel.commit(add("bob likes tea"), now)
    channel.checkpoint()
    holds = Journal.holds

    def set_aside(journal: Journal, place: Place) -> bool:
        held = holds(journal, place)
        monkeypatch.setattr(Journal, "holds", holds)
        journal.path.rename(journal.folder / "journal-0001.jsonl")
        journal.append([], NOWHERE)
        return held

    monkeypatch.setattr(Journal, "holds", set_aside)
    state = loaded(channel)
    state.catch_up()
    assert state.journal.holds(state.place)


def test_the_text_it_left_is_known_without_its_file(thrice: tuple[ChannelStore, list[str]]) -> None:
    """From a version, or put together from the lines that differ."""
    channel, texts = thrice
    assert loaded(channel).known_text(File.MEMORY, "what a person wrote") == texts[-1]
    assert loaded(channel).known_text(File.HISTORY, "what a person wrote") is None


def test_what_stood_in_a_file_is_told_newest_first(thrice: tuple[ChannelStore, list[str]]) -> None:
    """A person's text may have grown out of any of them."""
    channel, texts = thrice
    known = loaded(channel).past_texts(File.MEMORY)
    told = ["".join(past.lines) for past in known]
    assert [text for text in told if text in texts] == texts[::-1]


def test_a_checkpoint_is_due_after_so_many_records(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And after it a start folds nothing."""
    channel.commit(add("bob likes tea"), now)
    monkeypatch.setattr(states, "_CHECKPOINT_AFTER", 2)
    state = loaded(channel)
    assert (state.has_news, state.is_due) == (True, False)
    channel.commit(add("carol likes coffee"), now)
    state = loaded(channel)
    assert (state.has_news, state.is_due) == (False, False)
    assert state.ledger.sequence == 2


def test_without_a_state_of_its_own_the_history_tells_the_cursor(channel: ChannelStore, now: datetime) -> None:
    """What HISTORY.md covers was consolidated; what was said later was not."""
    later = now.replace(hour=now.hour + 1)
    channel.append([Message.user("one", id="a", time=now), Message.user("two", id="b", time=later)])
    assert fresh_ledger(channel.transcript, now) == Ledger(cursor=1, boundary=1, refreshed=1, epoch_start=1)
    assert State.load(channel.folder, channel.transcript, lambda: now).ledger.cursor == 1
    assert State.load(channel.folder, channel.transcript, lambda: None).ledger.cursor == 0
