"""The desk: what lies there as it stands, read again only where it changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.operations import Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import working_copy as working_copies
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk.files import TextFile

Add = Callable[..., Decision]


@pytest.fixture
def working_copy(channel: ChannelStore, now: datetime, add: Add) -> WorkingCopy:
    """Another process's working copy of a channel with one fact."""
    channel.commit(add("bob likes tea"), now)
    other = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
    with other.reading() as found:
        return found


def edited(working_copy: WorkingCopy, text: str) -> None:
    """A person's MEMORY.md, saved long enough ago to be meant."""
    path = working_copy.path(File.MEMORY)
    path.write_text(text)
    os.utime(path, (time.time() - 60, time.time() - 60))


def test_nothing_is_read_twice_while_nothing_changes(
    working_copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very same object comes back; a saved file is read, and only that one."""
    shown = working_copy.read_notes()
    opened: list[Path] = []
    real = working_copies.read

    def read(path: Path, root: Path) -> TextFile | None:
        if path.exists():
            opened.append(path)
        return real(path, root)

    monkeypatch.setattr(working_copies, "read", read)
    assert working_copy.read_notes() is shown
    assert opened == []
    edited(working_copy, "# Memory\n\n## Facts\n\n- carol likes coffee\n")
    assert [entry.text for entry in working_copy.read_notes().memory.entries] == [
        "carol likes coffee"
    ]
    assert opened == [working_copy.path(File.MEMORY)]


def test_a_hand_is_told_apart_from_what_we_left(working_copy: WorkingCopy) -> None:
    """Both texts, and which files lie between them."""
    left = working_copy.read_now(File.MEMORY).text
    edited(working_copy, left + "- carol likes coffee\n")
    view = working_copy.fresh_view()
    assert view.edited == (File.MEMORY,)
    assert view.base.memory.text == left
    assert [entry.text for entry in view.current.memory.entries] == [
        "bob likes tea",
        "carol likes coffee",
    ]
    assert (view.is_on_disk(File.MEMORY), view.locked) == (True, frozenset())


def test_a_file_emptied_just_now_counts_as_we_left_it(working_copy: WorkingCopy) -> None:
    """An editor truncates before it writes; emptied a minute ago, it was meant."""
    left = working_copy.read_now(File.MEMORY).text
    working_copy.path(File.MEMORY).write_text("")
    view = working_copy.fresh_view()
    assert (view.locked, view.edited, view.current.memory.text) == ({File.MEMORY}, (), left)
    assert not view.is_on_disk(File.MEMORY)
    edited(working_copy, "")
    view = working_copy.fresh_view()
    assert (view.locked, view.edited, view.current.memory.text) == (frozenset(), (File.MEMORY,), "")


def test_a_text_waits_until_it_lies_prepared_no_more(working_copy: WorkingCopy) -> None:
    """What lies there under its name with another text was displaced by it, and is none that
    waits.
    """
    text = working_copy.read_now(File.MEMORY).text
    waiting = working_copy.prepared(File.MEMORY, working_copy.state.heads[File.MEMORY])
    assert not working_copy.is_pending(File.MEMORY)
    waiting.write_text(text)
    assert working_copy.is_pending(File.MEMORY)
    waiting.write_text(text + "- a person's\n")
    assert not working_copy.is_pending(File.MEMORY)


def test_shared_memory_that_is_no_text_is_left_out(working_copy: WorkingCopy) -> None:
    """It would silence every channel."""
    (working_copy.root / File.MEMORY).write_bytes(b"\xff\xfe- broken")
    assert working_copy.read_notes().workspace.text == ""
    assert [entry.text for entry in working_copy.read_notes().memory.entries] == ["bob likes tea"]


@pytest.mark.parametrize(("minutes", "kept"), [(1, ["bob likes tea", "carol has a cat"]), (11, [])])
def test_a_plain_deletion_holds_once_our_text_has_stood_for_a_while(
    channel: ChannelStore, now: datetime, add: Add, minutes: int, kept: list[str]
) -> None:
    """Minutes after three commits an older buffer may leave the same text, so what it lacks
    stays; later it goes.
    """
    for fact in ("alice plays chess", "bob likes tea", "carol has a cat"):
        channel.commit(add(fact), now)
    path = channel.folder / File.MEMORY
    path.write_text(
        "".join(
            line for line in path.read_text().splitlines(keepends=True) if not line.startswith("- ")
        )
    )
    saved = time.time() + minutes * 60
    os.utime(path, (saved, saved))
    channel.commit(add("dora sings"), now)
    assert [entry.text for entry in channel.notes().memory.entries] == [*kept, "dora sings"]
