"""What is archived goes to the end of the archive once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author, Decision, Invalidate
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import publish
from pipimem.store.commit.publish import append_archived

Add = Callable[..., Decision]


@pytest.fixture
def cut_off(
    channel: ChannelStore, now: datetime, add: Add, monkeypatch: pytest.MonkeyPatch
) -> ChannelStore:
    """A channel whose process died right after it had archived an entry; its archive had a line
    before.
    """
    (channel.folder / File.ARCHIVE).write_text("# Archive\n\n- older\n")
    channel.commit(add("tea at four", "coffee at five"), now)
    entry = channel.notes().memory.entries[0]
    over = Decision(
        "expire", Author.RULE, (Invalidate(entry.target, "stale", still_so=True, archived=True),)
    )

    def killed(*_: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(publish, "_exchange", killed)
        with pytest.raises(KeyboardInterrupt):
            channel.commit(over, now)
    assert channel.archive().text.count("tea at four") == 1
    return ChannelStore.open(channel.workspace, "team", create=False)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "- typed above\n" + text,
        lambda text: text.replace("- older\n", ""),
        lambda text: text + "- typed below\n",
        lambda text: text,
    ],
)
def test_what_is_there_is_not_added_again(
    cut_off: ChannelStore, now: datetime, edit: Callable[[str], str]
) -> None:
    """Also where a person's line moved it from the byte where it was put."""
    path: Path = cut_off.folder / File.ARCHIVE
    wanted = edit(path.read_text())
    path.write_text(wanted)
    cut_off.record_edits(now)
    assert path.read_text() == wanted


def test_half_of_it_is_completed(cut_off: ChannelStore, now: datetime) -> None:
    """A crash may cut it at any byte, and a power cut may leave blanks of the disk behind."""
    path: Path = cut_off.folder / File.ARCHIVE
    whole = path.read_bytes()
    archived = list(cut_off.changes())[-1].archived.encode()
    before = whole.removesuffix(archived)
    for length in range(len(archived)):
        path.write_bytes(before + archived[:length] + b"\0" * (length % 3))
        append_archived(cut_off._opened.loaded(), archived.decode())
        assert path.read_bytes().replace(b"\n\n\n", b"\n\n") == whole


def test_a_last_line_of_a_person_stays_a_line(cut_off: ChannelStore, now: datetime) -> None:
    """It lacks its ending, and is no half of ours."""
    path: Path = cut_off.folder / File.ARCHIVE
    path.write_text("# Archive\n\n- typed")
    cut_off.record_edits(now)
    archived = list(cut_off.changes())[-1].archived
    assert path.read_text() == f"# Archive\n\n- typed\n{archived}"


def test_what_stands_behind_another_beginning_stays(cut_off: ChannelStore, now: datetime) -> None:
    """Another archive, as long up to there: what follows is not taken for ours."""
    path: Path = cut_off.folder / File.ARCHIVE
    whole = path.read_text()
    other = whole.replace("older", "OTHER")[:-6]
    path.write_text(other)
    cut_off.record_edits(now)
    assert path.read_text().startswith(other)
    assert path.read_text().count("tea at four\n") == 1
