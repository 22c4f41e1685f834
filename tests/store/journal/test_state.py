"""The state a journal tells: the ledger, kept up, and the text each file was left with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime

import pytest
from pipimem.errors import JournalError
from pipimem.notes.kinds import File
from pipimem.notes.ledger import Ledger, fresh_ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.journal import checkpoint
from pipimem.store.journal import journal as journals
from pipimem.store.journal import state as states
from pipimem.store.journal.checkpoint import Checkpoint
from pipimem.store.journal.journal import Journal
from pipimem.store.journal.past_texts import past_texts
from pipimem.store.journal.records import NOWHERE, Place
from pipimem.store.journal.state import State

Add = Callable[..., Decision]


def loaded(channel: ChannelStore) -> State:
    """The state as another process reads it."""
    return State.load(channel.folder, Ledger, channel.transcript.lock.check)


@pytest.fixture
def thrice(channel: ChannelStore, now: datetime, add: Add) -> tuple[ChannelStore, list[str]]:
    """A channel after three commits, with the text of MEMORY.md after each."""
    texts = []
    for fact in ("bob likes tea", "carol likes coffee", "dave likes water"):
        channel.commit(add(fact), now)
        texts.append((channel.folder / File.MEMORY).read_text())
    return channel, texts


def test_it_catches_up_with_what_others_commit(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
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
    """Between the look at the place of the checkpoint and the reading from there, another
    process rotates.
    """
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
    known = past_texts(loaded(channel), File.MEMORY)
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


def test_without_checkpoint_and_journal_the_ledger_is_what_others_conclude(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """What HISTORY.md covers was consolidated, say; with a journal that says nothing."""
    later = now.replace(hour=now.hour + 1)
    channel.append([Message.user("one", id="a", time=now), Message.user("two", id="b", time=later)])
    assert fresh_ledger(channel.transcript.messages(), now) == Ledger(
        cursor=1, boundary=1, refreshed=1, epoch_start=1
    )
    check = channel.transcript.lock.check
    assert State.load(channel.folder, lambda: Ledger(cursor=1), check).ledger.cursor == 1
    channel.commit(add("bob likes tea"), now)
    assert State.load(channel.folder, lambda: Ledger(cursor=1), check).ledger.cursor == 0


def facts(channel: ChannelStore) -> list[str]:
    """The entries of MEMORY.md, as another process reads them."""
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    return sorted(entry.text for entry in again.notes().memory.entries)


def test_what_came_after_the_checkpoint_stays_when_the_journal_is_lost(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Versions know texts that are newer than the checkpoint: none of them counts as what a
    person went on from.
    """
    channel.commit(add("bob likes tea"), now)
    channel.checkpoint()
    channel.commit(add("carol likes coffee"), now)
    path = channel.folder / File.MEMORY
    path.write_text(path.read_text() + "- typed by hand\n")
    channel.commit(add("dave likes water"), now)
    text = path.read_text()
    (channel.folder / ".pipimem" / "journal.jsonl").unlink()
    wanted = ["bob likes tea", "carol likes coffee", "dave likes water", "typed by hand"]
    assert facts(channel) == wanted
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    again.journal_edits(now)
    assert path.read_text() == text
    again.commit(add("erin likes milk"), now)
    assert facts(channel) == sorted([*wanted, "erin likes milk"])


def test_so_it_is_with_an_older_journal_of_its_own(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """A backup of the journal alone: it ends before the checkpoint begins."""
    own = channel.folder / ".pipimem"
    channel.commit(add("bob likes tea"), now)
    older = (own / "journal.jsonl").read_bytes()
    channel.commit(add("carol likes coffee"), now)
    channel.checkpoint()
    channel.commit(add("dave likes water"), now)
    (own / "journal.jsonl").write_bytes(older)
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    again.commit(add("erin likes milk"), now)
    assert facts(channel) == [
        "bob likes tea",
        "carol likes coffee",
        "dave likes water",
        "erin likes milk",
    ]
    assert again.ledger.sequence == 3


@pytest.mark.parametrize("name", ["journal.jsonl", "ledger.json"])
def test_the_journal_or_the_checkpoint_of_another_channel_is_refused(
    channel: ChannelStore, now: datetime, add: Add, name: str
) -> None:
    """Nothing of that channel comes into this one's notes, and the sentence says which file to
    remove.
    """
    other = ChannelStore.open(channel.workspace, "garden", create=True)
    for store, facts_of in (
        (channel, ("bob likes tea", "carol likes tea")),
        (other, ("roses are red", "so is wine")),
    ):
        for fact in facts_of:
            store.commit(add(fact), now)
        store.checkpoint()
    other.commit(add("lilies are white"), now)
    text = (channel.folder / File.MEMORY).read_text()
    path = channel.folder / ".pipimem" / name
    path.write_bytes((other.folder / ".pipimem" / name).read_bytes())
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    dave = add("dave likes water")
    was_read_before = (
        channel.notes,
        lambda: channel.commit(dave, now),
        lambda: channel.commit(dave, now),
    )
    for deed in (
        again.notes,
        lambda: again.commit(dave, now),
        *(was_read_before if name == "journal.jsonl" else ()),
    ):
        with pytest.raises(JournalError, match="do not belong together"):
            deed()
    assert (channel.folder / File.MEMORY).read_text() == text
    path.unlink()
    again.commit(add("dave likes water"), now)
    assert facts(channel) == ["bob likes tea", "carol likes tea", "dave likes water"]


def test_a_checkpoint_from_before_the_journal_was_set_aside_catches_up(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup of the checkpoint alone: what lies between stands in the part that was set aside."""
    monkeypatch.setattr(journals, "_ROTATE_AT", 1)
    own = channel.folder / ".pipimem"
    channel.commit(add("bob likes tea"), now)
    state = channel._opened.loaded().state
    checkpoint.save(own / "ledger.json", Checkpoint(state.ledger, state.place))
    older = (own / "ledger.json").read_bytes()
    channel.commit(add("carol likes coffee"), now)
    channel.checkpoint()
    channel.commit(add("dave likes water"), now)
    (own / "ledger.json").write_bytes(older)
    known = loaded(channel).ledger
    assert known == channel.ledger


def test_a_damaged_journal_is_told_by_each_call_of_a_running_bot(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """Not by the first alone: the next would go on from the checkpoint, behind what is damaged."""
    channel.commit(add("bob likes tea"), now)
    channel.checkpoint()
    for fact in ("carol likes coffee", "dave likes water"):
        channel.commit(add(fact), now)
    path = channel.folder / ".pipimem" / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-2], b"x" + lines[-2], b"x" + lines[-1], lines[-1]]))
    for _ in range(2):
        with pytest.raises(JournalError, match="damaged"):
            channel.commit(add("erin likes milk"), now)
        with pytest.raises(JournalError, match="damaged"):
            channel.notes()


def test_a_journal_with_a_gap_leads_to_no_text_and_to_no_error(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """An older copy of it was gone on with, then the versions and the checkpoint were lost, and
    a person saved.
    """
    own, path = channel.folder / ".pipimem", channel.folder / File.MEMORY
    channel.commit(add("bob likes tea"), now)
    older = (own / "journal.jsonl").read_bytes()
    channel.commit(add("carol likes coffee"), now)
    channel.checkpoint()
    (own / "journal.jsonl").write_bytes(older)
    again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    again.commit(add("dave likes water"), now)
    path.write_text(path.read_text().replace("carol", "caroline"))
    again.journal_edits(now)
    shutil.rmtree(own / "versions")
    (own / "ledger.json").unlink()
    path.write_text(path.read_text() + "- typed by hand\n")
    wanted = ["bob likes tea", "caroline likes coffee", "dave likes water", "typed by hand"]
    assert facts(channel) == wanted
    last = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    last.commit(add("erin likes milk"), now)
    assert facts(channel) == sorted([*wanted, "erin likes milk"])
