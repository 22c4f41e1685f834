"""Changes taken back, and notes put back to a moment."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pipimem.errors import CannotTakeBack, NothingFound
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import still
from pipimem.notes.message import Message
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Confirm,
    Decision,
    Evidence,
    FoldBlocks,
    Invalidate,
    Move,
    Operation,
    SetSection,
    Supersede,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.traces import traces
from pipimem.store.history.undo import restore, undo
from pipimem.store.workspace import WorkspaceStore

from tests.store.conftest import NOW

Adds = Callable[..., Decision]
FILES = (File.SESSION, File.MEMORY, File.HISTORY)


def texts(channel: ChannelStore) -> dict[File, bytes]:
    """The three files, byte for byte; one that is not there is empty."""
    return {
        file: p.read_bytes() if (p := channel.folder / file).exists() else b"" for file in FILES
    }


def memory(channel: ChannelStore) -> list[str]:
    """The entries of MEMORY.md."""
    return [entry.text for entry in channel.notes().memory.entries]


def did(channel: ChannelStore, *operations: Operation, author: Author = Author.PERSON) -> int:
    """Commits operations; the number of the record."""
    return channel.commit(Decision("consolidate", author, operations), NOW).sequence


def entry(channel: ChannelStore, text: str):  # type: ignore[no-untyped-def]
    """The entry with this text."""
    return next(entry for entry in channel.notes().memory.entries if entry.text == text)


def write(channel: ChannelStore, text: str, file: File = File.MEMORY) -> None:
    """A person saves a file."""
    (channel.folder / file).write_bytes(text.encode())


def test_the_newest_change_is_taken_back(channel: ChannelStore, now: datetime, add: Adds) -> None:
    """Byte for byte, as a commit of a person's, and not learnt again from the talk it came from."""
    channel.append([Message.user("I like tea", id="m1")])
    channel.commit(add("alice likes tea", cursor=1), now)
    before = texts(channel)
    channel.commit(add("bob likes coffee"), now)
    done = undo(channel, None, now, "alice")
    assert texts(channel) == before
    newest = list(channel.changes())[-1]
    assert (newest.task, newest.author, newest.actor, newest.sequence) == (
        "undo",
        Author.PERSON,
        "alice",
        done.sequence,
    )
    assert (
        channel.commit(add("bob likes coffee"), now)
        .outcome.refused[0]
        .reason.startswith("it was taken out")
    )
    later = add("bob likes coffee").operations[0]
    assert isinstance(later, Add)
    did(channel, replace(later, evidence=Evidence(("m2",), 2, "bob", now)))
    assert memory(channel) == ["alice likes tea", "bob likes coffee"]


def test_going_back_step_by_step(channel: ChannelStore, now: datetime, add: Adds) -> None:
    """A second undo takes back the change before; an undo is taken back by its number."""
    channel.commit(add("one"), now)
    channel.commit(add("two"), now)
    full = texts(channel)
    undo(channel, None, now)
    back = undo(channel, None, now)
    assert memory(channel) == []
    with pytest.raises(NothingFound):
        undo(channel, None, now)
    undo(channel, back.sequence, now)
    assert memory(channel) == ["one"]
    undo(channel, back.sequence - 1, now)
    assert (memory(channel), texts(channel)) == (["one", "two"], full)
    record = channel.ledger.records[entry(channel, "two").id]
    assert (record.trust, record.sources, channel.ledger.tombstones) == (
        Trust.INFERRED,
        ("m1",),
        {},
    )


def test_a_change_is_taken_back_from_below_later_ones(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """Headings it made stay while something stands below them; hand edits around it stay."""
    first = channel.commit(add("一月五日上线", "bob likes tea"), now).sequence
    channel.commit(add("carol likes tea"), now)
    write(channel, (channel.folder / "MEMORY.md").read_text().replace("# 记忆", "# 要点"))
    undo(channel, first, now)
    assert (channel.folder / "MEMORY.md").read_text() == "# 要点\n\n## 事实\n\n- carol likes tea\n"


def test_windows_line_ends_and_a_missing_last_one_come_back(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """The bytes are the person's own again."""
    write(channel, "# Notes\r\n\r\n## Facts\r\n\r\n- 甲\r\n- 乙")
    channel.notes()
    before = texts(channel)
    number = channel.commit(add("丙"), now).sequence
    undo(channel, number, now)
    assert texts(channel) == before
    number = channel.commit(replace(add("丁"), author=Author.PERSON), now).sequence
    write(channel, (channel.folder / "MEMORY.md").read_bytes().decode() + "- 戊\r\n")
    undo(channel, number, now)
    assert (channel.folder / "MEMORY.md").read_bytes().decode() == (
        "# Notes\r\n\r\n## Facts\r\n\r\n- 甲\r\n- 乙\r\n- 戊\r\n"
    )


def test_what_was_superseded_merged_invalidated_or_moved_comes_back(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """With its record, and recalled as before: its tombstones are gone."""
    channel.commit(add("the port is 80", "bob likes tea", "bob enjoys tea", "old news"), now)
    records, before = channel.ledger.records, texts(channel)
    said = Evidence(("m9",), 9, "bob", now)
    targets = [
        entry(channel, text).target
        for text in ("the port is 80", "bob likes tea", "bob enjoys tea", "old news")
    ]
    for operation in (
        Supersede((targets[0],), "the port is 8080", Trust.INFERRED, said),
        Supersede((targets[1], targets[2]), "bob loves tea", Trust.INFERRED),
        Invalidate(targets[3], "over", archived=True),
        Move(targets[3], Kind.LESSON),
    ):
        number = did(channel, operation)
        assert texts(channel) != before
        undo(channel, number, now)
        assert texts(channel) == before
        assert {
            name: record
            for name, record in channel.ledger.records.items()
            if record in records.values()
        } == records
        assert not {name for target in targets for name in (target.id, still(target.id))} & set(
            channel.ledger.tombstones
        )


def test_it_refuses_and_names_what_is_in_the_way(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """Nothing is changed then; with the later change taken back first it works."""
    first = channel.commit(add("the port is 80"), now).sequence
    second = did(
        channel,
        Supersede((entry(channel, "the port is 80").target,), "the port is 8080", Trust.EXPLICIT),
    )
    before = texts(channel)
    with pytest.raises(
        CannotTakeBack,
        match=rf"changed again by {second} \(consolidate, person, 2026-03-02T09:10\)",
    ):
        undo(channel, first, now)
    assert texts(channel) == before
    undo(channel, second, now)
    undo(channel, first, now)
    assert memory(channel) == []


def test_of_several_lines_in_the_way_the_first_is_quoted(
    channel: ChannelStore, now: datetime
) -> None:
    """As it stands, with a sign that more follow; not all of them in one line."""
    done = did(channel, SetSection("Decisions", ("we ship on Monday", "Bob tests")))
    path = channel.folder / "SESSION.md"
    text = path.read_text("utf-8")
    path.write_text(text.replace("- we ship on Monday\n- Bob tests\n", "- none\n"), "utf-8")
    with pytest.raises(CannotTakeBack, match=r"“- we ship on Monday…” in SESSION\.md was changed"):
        undo(channel, done, now)


def test_a_hand_edit_in_the_way_is_named(channel: ChannelStore, now: datetime, add: Adds) -> None:
    """Also one that was never recorded; and it can be taken back like any change."""
    first = channel.commit(add("the port is 80"), now).sequence
    write(channel, (channel.folder / "MEMORY.md").read_text().replace("80", "8080"))
    with pytest.raises(CannotTakeBack, match=r"changed again by 2 \(edit, editor"):
        undo(channel, first, now)
    assert memory(channel) == ["the port is 8080"]
    undo(channel, 2, now)
    assert memory(channel) == ["the port is 80"]
    assert channel.ledger.records[entry(channel, "the port is 80").id].trust is Trust.INFERRED


def test_a_later_entry_keeps_its_section(channel: ChannelStore, now: datetime) -> None:
    """A heading made by hand is not taken from above what came below it later."""
    did(channel, Add(Kind.FACT, "a", Trust.EXPLICIT))
    write(channel, "# Memory\n\n## Facts\n\n- a\n\n## Ours\n")
    channel.record_edits(now)
    number = channel.ledger.sequence
    write(channel, "# Memory\n\n## Facts\n\n- a\n\n## Ours\n\n- b\n")
    with pytest.raises(CannotTakeBack, match="rest on “## Ours”"):
        undo(channel, number, now)


def test_what_cannot_be_taken_back_is_told(channel: ChannelStore, now: datetime, add: Adds) -> None:
    """A forgetting, a record without texts, a number that is not there, a change taken back
    already.
    """
    channel.append([Message.user("x", id="m1")])
    channel.commit(add("bob's number is 555 0199"), now)
    cursor = channel.commit(add(cursor=1), now).sequence
    second = channel.commit(add("bob likes tea"), now).sequence
    undo(channel, second, now)
    with pytest.raises(CannotTakeBack, match=rf"was taken back by {second + 1}"):
        undo(channel, second, now)
    with pytest.raises(CannotTakeBack, match="changed no text"):
        undo(channel, cursor, now)
    channel.forget("555 0199", keep_transcript=False, now=now)
    with pytest.raises(CannotTakeBack, match="for good"):
        undo(channel, channel.ledger.sequence, now)
    with pytest.raises(NothingFound):
        undo(channel, 99, now)
    assert "0199" not in str(texts(channel))


def test_a_forgetting_ends_undo_restore_and_diff(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """What came before it is told to be over; what comes after it is taken back as ever."""
    channel.commit(add("bob likes tea"), now)
    channel.commit(add("bob's number is 555 0199", "carol likes tea"), now)
    records = channel.ledger.records
    channel.forget("555 0199", keep_transcript=False, now=now)
    forgotten = channel.ledger.sequence
    for number in (1, 2):
        with pytest.raises(NothingFound, match="is a forgetting: what came before"):
            undo(channel, number, now)
        with pytest.raises(NothingFound, match="is a forgetting: what came before"):
            restore(channel, number, now)
    with pytest.raises(NothingFound, match="is a forgetting: what came before"):
        undo(channel, None, now)
    with pytest.raises(NothingFound):
        restore(channel, now - timedelta(days=1), now)
    did(channel, Invalidate(entry(channel, "bob likes tea").target, "over"))
    channel.commit(add("dave likes tea"), now)
    undo(channel, forgotten + 1, now)
    assert memory(channel) == ["bob likes tea", "carol likes tea", "dave likes tea"]
    restore(channel, forgotten, now)
    assert memory(channel) == ["bob likes tea", "carol likes tea"]
    assert all(channel.ledger.records[name] == records[name] for name in channel.ledger.records)
    assert list(traces([channel.folder], "555 0199")) == []


def test_where_nothing_was_forgotten_nothing_ends(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """A forgetting that found nothing is no change."""
    channel.commit(add("bob likes tea"), now)
    before = len(list(channel.changes()))
    assert channel.forget("555 0199", keep_transcript=False, now=now).is_empty
    assert len(list(channel.changes())) == before
    assert undo(channel, 1, now).record.sequence == 1


def test_a_deletion_by_hand_holds_until_it_is_told_anew(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """Older talk does not bring it back; a later word does, and so does undoing the deletion."""
    channel.append([Message.user(f"said {n}", id=f"m{n}") for n in (1, 2)])
    channel.commit(add("bob likes tea", "carol likes tea", cursor=1), now)
    whole = (channel.folder / "MEMORY.md").read_text()
    write(channel, whole.replace("- bob likes tea\n", ""))
    assert channel.commit(add("bob likes tea"), now).outcome.refused
    assert memory(channel) == ["carol likes tea"]
    undo(channel, None, now)
    assert (channel.folder / "MEMORY.md").read_text() == whole
    write(channel, whole.replace("- bob likes tea\n", ""))
    channel.record_edits(now)
    op = add("bob likes tea").operations[0]
    assert isinstance(op, Add)
    did(channel, replace(op, evidence=Evidence(("m2",), 2, "bob", now)), author=Author.MODEL)
    assert memory(channel) == ["carol likes tea", "bob likes tea"]


def test_restore_puts_the_notes_back_and_names_hand_edits(
    channel: ChannelStore, now: datetime, add: Adds
) -> None:
    """To a number or a time, as one commit that can be undone; what stood there is kept as a
    version.
    """
    channel.commit(add("one"), now)
    then = texts(channel)
    channel.commit(add("two"), now + timedelta(hours=1))
    write(channel, (channel.folder / "MEMORY.md").read_text() + "- by hand\n")
    done = restore(channel, now + timedelta(minutes=5), now + timedelta(hours=2))
    assert (done.to, [edit.task for edit in done.edits], texts(channel)) == (1, ["edit"], then)
    undo(channel, None, now + timedelta(hours=3))
    assert memory(channel) == ["one", "two", "by hand"]
    restore(channel, 0, now + timedelta(hours=4))
    assert memory(channel) == []
    assert restore(channel, now + timedelta(hours=5), now + timedelta(hours=5)).outcome.texts == {}
    for point in (99, now - timedelta(days=1)):
        restore(channel, point, now) if isinstance(point, datetime) else None
    with pytest.raises(NothingFound):
        restore(channel, 99, now)


def test_undo_works_across_checkpoints_and_restarts(
    workspace: WorkspaceStore, now: datetime, add: Adds
) -> None:
    """Versions and ledger checkpoints are not needed: the journal alone leads back."""
    for number in range(5):
        channel = ChannelStore.open(workspace, "team", create=True)
        channel.commit(add(f"fact {number}"), now)
        channel.close()
    channel = ChannelStore.open(workspace, "team", create=False)
    undo(channel, 3, now)
    assert memory(channel) == ["fact 0", "fact 1", "fact 3", "fact 4"]


# ── any decision
# ──────────────────────────────────────────────────────────────────────────────────────────────────

WORDS = st.sampled_from(
    [
        "bob likes tea",
        "上线窗口是周四晚上九点",
        "port 8080",
        "端口 8080",
        "a",
        "乙",
        "never on Fridays",
    ]
)
FILLED = st.sampled_from(
    [
        "",
        "# Memory\n\n## Facts\n\n- a\n- 乙\n",
        "# Memory\r\n\r\n## Facts\r\n\r\n* a\r\n  more\r\n* 乙",
        "\ufeffprose\n\n- a\n- a\n\n## 决定\n\n1. port 8080\n2. 乙\n\n```\n- code\n",
        "## Preferences\n- never on Fridays\n## Facts\n- bob likes tea\n<!-- open\n",
    ]
)


@st.composite
def decisions(draw: st.DrawFn) -> Callable[[ChannelStore], tuple[Operation, ...]]:
    """Operations of all kinds on whatever stands there."""
    picks = draw(
        st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9), WORDS), min_size=1, max_size=5)
    )

    def made(channel: ChannelStore) -> tuple[Operation, ...]:
        bullets = [entry for entry in channel.notes().memory.entries if entry.bullet]
        return tuple(
            _operation(kind, bullets[place % len(bullets)] if bullets else None, text)
            for kind, place, text in picks
        )

    return made


def _operation(kind: int, target, text: str) -> Operation:  # type: ignore[no-untyped-def]
    said = Evidence(("m9",), 9, "bob", NOW)
    fallback = Add(Kind.FACT, text, Trust.EXPLICIT, said)
    if kind == 0 or (target is None and kind < 5):
        return fallback
    return [
        fallback,
        Supersede((target.target,), text, Trust.EXPLICIT, said) if target else fallback,
        Invalidate(target.target, "over", archived=True) if target else fallback,
        Move(target.target, Kind.LESSON) if target else fallback,
        Confirm(target.target, said) if target else fallback,
        SetSection("Next Steps", (text, "then rest")),
        AddBlock(NOW - timedelta(hours=1), NOW, text, (Bullet(text, ("m1",)),)),
        FoldBlocks("2026-03", text, (Bullet(text),), ("2026-03-01 09:10–10:10 +08:00 · talk",)),
    ][kind]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    filled=FILLED,
    made=decisions(),
    authored=st.sampled_from([Author.PERSON, Author.MODEL, Author.RULE]),
    is_edited=st.booleans(),
)
def test_undo_after_any_decision_restores_the_notes(
    filled: str,
    made: Callable[[ChannelStore], tuple[Operation, ...]],
    authored: Author,
    is_edited: bool,
) -> None:
    """Byte for byte; and undoing the undo brings the decision's texts back, byte for byte."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "channels").mkdir()
        channel = ChannelStore.open(WorkspaceStore.open(Path(folder)), "team", create=True)
        write(channel, filled)
        write(
            channel,
            "# History\n\n## 2026-03-01 09:10–10:10 +08:00 · talk\n\n- said\n",
            File.HISTORY,
        )
        did(channel, Add(Kind.PREFERENCE, "first of all", Trust.EXPLICIT))
        if is_edited:
            write(channel, (channel.folder / "MEMORY.md").read_bytes().decode() + "- by hand\n")
            channel.record_edits(NOW)
        before, start = texts(channel), channel.ledger.sequence
        records = channel.ledger.records
        number = did(channel, *made(channel), author=authored)
        after = texts(channel)
        if number == start or after == before:
            return
        back = undo(channel, number, NOW)
        assert texts(channel) == before
        assert set(channel.ledger.records) == set(records)
        undo(channel, back.sequence, NOW)
        assert texts(channel) == after
