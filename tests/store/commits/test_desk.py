"""The desk: what lies there as it stands, read again only where it changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.files import File
from pipimem.notes.operations import Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.commits import desk as desks
from pipimem.store.commits.desk import Desk, prepared_path
from pipimem.store.disk.files import Reading
from pipimem.store.journal.state import State

Add = Callable[..., Decision]


@pytest.fixture
def desk(channel: ChannelStore, now: datetime, add: Add) -> Desk:
    """Another process's desk of a channel with one fact."""
    channel.commit(add("bob likes tea"), now)
    state = State.load(channel.folder, channel.transcript, lambda: None)
    return Desk(channel.folder, channel.workspace.root, channel.key, state)


def edited(desk: Desk, text: str) -> None:
    """A person's MEMORY.md, saved long enough ago to be meant."""
    path = desk.path(File.MEMORY)
    path.write_text(text)
    os.utime(path, (time.time() - 60, time.time() - 60))


def test_nothing_is_read_twice_while_nothing_changes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very same object comes back; a saved file is read, and only that one."""
    shown = desk.shown()
    opened: list[Path] = []
    real = desks.read

    def read(path: Path, root: Path) -> Reading | None:
        if path.exists():
            opened.append(path)
        return real(path, root)

    monkeypatch.setattr(desks, "read", read)
    assert desk.shown() is shown
    assert opened == []
    edited(desk, "- carol likes coffee\n")
    assert [entry.text for entry in desk.shown().memory.entries] == ["carol likes coffee"]
    assert opened == [desk.path(File.MEMORY)]


def test_a_hand_is_told_apart_from_what_we_left(desk: Desk) -> None:
    """Both texts, and which files lie between them."""
    left = desk.on_disk(File.MEMORY)
    edited(desk, left + "- carol likes coffee\n")
    view = desk.fresh()
    assert view.edited == (File.MEMORY,)
    assert view.left.memory.text == left
    assert [entry.text for entry in view.now.memory.entries] == [
        "bob likes tea",
        "carol likes coffee",
    ]
    assert (view.stands(File.MEMORY), view.held) == (True, frozenset())


def test_a_file_emptied_just_now_counts_as_we_left_it(desk: Desk) -> None:
    """An editor truncates before it writes; emptied a minute ago, it was meant."""
    left = desk.on_disk(File.MEMORY)
    desk.path(File.MEMORY).write_text("")
    view = desk.fresh()
    assert (view.held, view.edited, view.now.memory.text) == ({File.MEMORY}, (), left)
    assert not view.stands(File.MEMORY)
    edited(desk, "")
    view = desk.fresh()
    assert (view.held, view.edited, view.now.memory.text) == (frozenset(), (File.MEMORY,), "")


def test_a_text_waits_until_it_lies_prepared_no_more(desk: Desk) -> None:
    """What lies there under its name with another text was displaced by it, and is none that waits."""
    text = desk.on_disk(File.MEMORY)
    waiting = prepared_path(desk, File.MEMORY, desk.state.ledger.etags[File.MEMORY])
    assert not desk.is_pending(File.MEMORY)
    waiting.write_text(text)
    assert desk.is_pending(File.MEMORY)
    waiting.write_text(text + "- a person's\n")
    assert not desk.is_pending(File.MEMORY)


def test_shared_memory_that_is_no_text_is_left_out(desk: Desk) -> None:
    """It would silence every channel."""
    (desk.root / File.MEMORY).write_bytes(b"\xff\xfe- broken")
    assert desk.shown().workspace.text == ""
    assert [entry.text for entry in desk.shown().memory.entries] == ["bob likes tea"]


@pytest.mark.parametrize(("minutes", "kept"), [(1, ["bob likes tea", "carol has a cat"]), (11, [])])
def test_a_plain_deletion_holds_once_our_text_has_stood_for_a_while(
    channel: ChannelStore, now: datetime, add: Add, minutes: int, kept: list[str]
) -> None:
    """Minutes after three commits an older buffer may leave the same text, so what it lacks stays; later it goes."""
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
