"""Lives of a channel, looked back on: undo from below, and forgetting, on whatever history there
is.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pipimem.errors import CannotTakeBack
from pipimem.notes.kinds import File, Kind
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.notes.operations import (
    Add,
    Author,
    Decision,
    Evidence,
    Invalidate,
    SetSection,
    Supersede,
    Trust,
)
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.traces import traces
from pipimem.store.history.undo import undo
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.markdown.line_edits import splices_between

from tests.store.conftest import NOW

SECRET = "Secret 暗号 7"
WORDS = [
    "bob likes tea",
    "上线窗口",
    f"the {SECRET} is here",
    "alpha beta",
    "乙",
    f"{SECRET}",
    "port 8080",
]
KINDS = st.sampled_from([Kind.FACT, Kind.PREFERENCE, Kind.DECISION])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "add", "supersede", "drop", "session", "hand", "hand-drop", "undo", "say"]
        ),
        st.integers(0, 9),
        st.sampled_from(WORDS),
        KINDS,
    ),
    min_size=2,
    max_size=10,
)


@contextmanager
def a_channel() -> Iterator[ChannelStore]:
    """A new channel in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "channels").mkdir()
        channel = ChannelStore.open(WorkspaceStore.open(Path(folder)), "team", create=True)
        # Long enough that a deletion is never nearer to the empty file than to the text it was made
        # in.
        commit(
            channel,
            *(
                Add(Kind.LESSON, f"{line} was learnt long ago", Trust.EXPLICIT)
                for line in ("one", "two", "three")
            ),
        )
        yield channel


def lived(channel: ChannelStore, steps: list[tuple[str, int, str, Kind]]) -> None:
    """The channel after these steps; each text is made its own by a number."""
    for number, (what, place, word, kind) in enumerate(steps):
        text, said = f"{word} no {number}", Evidence((f"m{number}",), number, "bob", NOW)
        bullets = [entry for entry in channel.notes().memory.entries if entry.bullet]
        chosen = bullets[place % len(bullets)] if bullets else None
        match what:
            case "supersede" if chosen:
                commit(
                    channel, Supersede((chosen.target,), text, Trust.EXPLICIT, said, reason=text)
                )
            case "drop" if chosen:
                commit(channel, Invalidate(chosen.target, text, archived=place % 2 == 0))
            case "session":
                commit(channel, SetSection("Next Steps", (text, "rest")))
            case "hand" | "hand-drop":
                by_hand(channel, text, place, drops=what == "hand-drop")
            case "undo":
                take_back(channel, place)
            case "say":
                channel.append([Message.user(text, id=f"said{number}", speaker="bob")])
            case _:
                commit(channel, Add(kind, text, Trust.EXPLICIT, said))


def commit(channel: ChannelStore, *operations: Add | Supersede | Invalidate | SetSection) -> None:
    """One commit."""
    channel.commit(Decision("consolidate", Author.PERSON, operations, why=str(operations[0])), NOW)


def by_hand(channel: ChannelStore, text: str, place: int, *, drops: bool) -> None:
    """A person adds a line somewhere, over two lines now and then, or takes one out."""
    path = channel.folder / "MEMORY.md"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    at = place % (len(lines) + 1)
    if drops:
        del lines[at : at + 1]
    else:
        lines.insert(at, f"- {text.replace(' ', chr(10) + '  ', 1) if place % 3 == 0 else text}\n")
    path.write_text("".join(lines))
    # Saved a while ago: a file cut just now is an editor at work, and waited for.
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))
    channel.record_edits(NOW)


def take_back(channel: ChannelStore, place: int) -> bool:
    """One of the changes, if it can be."""
    numbers = [record.sequence for record in channel.changes() if record.files]
    if not numbers:
        return False
    try:
        undo(channel, numbers[place % len(numbers)], NOW)
    except CannotTakeBack:
        return False
    return True


def memory(channel: ChannelStore) -> Counter[str]:
    """The words of MEMORY.md's entries."""
    return Counter(entry.text for entry in channel.notes().memory.entries)


def words(text: str | None) -> Counter[str]:
    """The words of the entries of a text; none where it cannot be told any more."""
    return Counter(entry.text for entry in Note.read(File.MEMORY, text or "", b"a key").entries)


@settings(max_examples=30, deadline=None)
@given(steps=STEPS, place=st.integers(0, 9))
@example(
    steps=[
        ("hand", 0, "bob likes tea", Kind.FACT),
        ("hand-drop", 0, "bob likes tea", Kind.FACT),
        ("add", 0, "bob likes tea", Kind.FACT),
    ],
    place=2,
)
def test_an_undo_changes_nothing_but_what_the_change_had_done(
    steps: list[tuple[str, int, str, Kind]], place: int
) -> None:
    """Whatever came later: entries that the change had not to do with keep their words; undone,
    all is as it was.
    """
    with a_channel() as channel:
        lived(channel, steps)
        records = {record.sequence: record for record in channel.changes()}
        whole, before = (
            {p.name: p.read_bytes() for p in channel.folder.glob("*.md")},
            memory(channel),
        )
        if not take_back(channel, place):
            assert {p.name: p.read_bytes() for p in channel.folder.glob("*.md")} == whole
            return
        newest = list(channel.changes())[-1]
        if newest.sequence in records:
            return
        past, undone = channel.past(), int(newest.correlation)
        if past.current[File.MEMORY] == past.text_after(File.MEMORY, undone - 1):
            return  # word for word as before it: nothing else to look for
        met, made = (past.text_after(File.MEMORY, number) for number in (undone - 1, undone))
        splices = splices_between(met or "", made or "")
        lines = "".join(line for splice in splices for line in (*splice.removed, *splice.added))
        # What stands as the change left it may go back to how it stood before: without its bullet's
        # first line,
        # the rest of an entry is a paragraph.
        gone = before - memory(channel) - words(made)
        came = memory(channel) - before - words(met)
        for text in (*gone, *came):
            assert any(line.strip() in lines for line in text.splitlines()), text
        undo(channel, newest.sequence, NOW)
        assert memory(channel) == before


@settings(max_examples=30, deadline=None)
@given(steps=STEPS, is_closed=st.booleans(), after=STEPS)
@example(  # a deletion that is taken for an older buffer: notes and file must come together again
    steps=[
        ("hand", 0, "bob likes tea", Kind.FACT),
        ("supersede", 0, "bob likes tea", Kind.FACT),
        ("hand-drop", 1, "bob likes tea", Kind.FACT),
        ("hand-drop", 0, "bob likes tea", Kind.FACT),
    ],
    is_closed=False,
    after=[("add", 0, "bob likes tea", Kind.FACT)],
)
def test_what_is_forgotten_is_nowhere_and_the_past_still_fits_together(
    steps: list[tuple[str, int, str, Kind]],
    is_closed: bool,
    after: list[tuple[str, int, str, Kind]],
) -> None:
    """Every file is clean, and from there on each text of the past follows from the one before."""
    with a_channel() as channel:
        lived(channel, steps)
        kept = {
            text
            for text in memory(channel)
            if SECRET.casefold() not in " ".join(text.split()).casefold()
        }
        if is_closed:
            channel.close()
        channel.forget(SECRET, keep_transcript=False, now=NOW)
        assert [str(trace.path) for trace in traces([channel.folder], SECRET)] == []
        assert set(memory(channel)) == kept
        chain_holds(channel)
        again = ChannelStore.open(channel.workspace, "team", create=False)
        assert again.ledger == channel.ledger
        lived(again, [step for step in after if SECRET not in step[2]])
        chain_holds(again)
        assert [str(trace.path) for trace in traces([channel.folder], SECRET)] == []


def chain_holds(channel: ChannelStore) -> None:
    """From the text before the first change to the one the newest left, file by file."""
    past = channel.past()
    for file in (File.SESSION, File.MEMORY, File.HISTORY):
        text = past.text_after(file, 0)
        for record in past.records:
            if file in record.files:
                change = record.files[file]
                assert text == channel.text_of(change.before)
                text = channel.text_of(change.after)
                assert text is not None
        assert text == past.base[file]
