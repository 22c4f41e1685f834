"""A channel moved to another workspace: whole in one place, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import ArchiveError, ChannelMoved
from pipimem.notes.message import Message
from pipimem.runtime.transfer import archives as moving
from pipimem.runtime.transfer.archives import cancel_move, import_archive, move_out
from pipimem.store import moved
from pipimem.store.channel import ChannelStore
from pipimem.store.transfer import packing
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.transfer.test_archives import NOW, filled, remembered, tree, workspace

_CHANNEL = "群/上线"


class _Killed(BaseException):
    """The process ends here."""


def _of_channel(root: Path, store: WorkspaceStore) -> dict[str, bytes]:
    folder = store.folder_of(_CHANNEL).name
    files = tree(root).items()
    ours = {name: data for name, data in files if name.startswith(f"{folder}/")}
    return {name: data for name, data in ours.items() if not name.endswith("moved.json")}


def test_a_moved_channel_is_refused_here_and_whole_there(tmp_path: Path) -> None:
    """Writing, reading and opening are refused with a sentence that says where it is."""
    here, there = filled(tmp_path / "a"), workspace(tmp_path / "b")
    held = ChannelStore.open(here, _CHANNEL, create=False)
    archive = tmp_path / "moved.zip"
    move_out(here, _CHANNEL, archive, NOW, "1")
    before = _of_channel(tmp_path / "a", here)
    for refused in (
        lambda: held.append([Message.user("noch was", id="m9", time=NOW, speaker="x")]),
        lambda: held.commit(remembered("later"), NOW),
        lambda: ChannelStore.open(here, _CHANNEL, create=True),
    ):
        with pytest.raises(ChannelMoved, match=r"was moved to .*moved\.zip"):
            refused()
    assert _of_channel(tmp_path / "a", here) == before
    import_archive(there, archive, NOW)
    assert _of_channel(tmp_path / "b", there) == before
    ChannelStore.open(there, _CHANNEL, create=False).commit(remembered("goes on"), NOW)
    ChannelStore.open(here, "dm", create=False).commit(remembered("the other one too"), NOW)


def test_what_waits_for_the_lock_while_it_is_moved_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark is looked for under the lock: nothing is written behind the archive's back."""
    here = filled(tmp_path / "a")
    held = ChannelStore.open(here, _CHANNEL, create=False)
    planted = moved.write_move
    seen: list[type[BaseException]] = []

    def plant_and_let_others_in(own: Path, move: moved.Move) -> None:
        # Others passed the first look, and stand at the lock.
        monkeypatch.setattr(type(held._opened), "make_channel", lambda *_: None)
        planted(own, move)

    monkeypatch.setattr(moving, "write_move", plant_and_let_others_in)
    move_out(here, _CHANNEL, tmp_path / "moved.zip", NOW, "1")
    for write in (
        lambda: held.append([Message.user("x", id="m9", time=NOW, speaker="x")]),
        lambda: held.commit(remembered("later"), NOW),
    ):
        with pytest.raises(ChannelMoved) as caught:
            write()
        seen.append(caught.type)
    assert seen == [ChannelMoved, ChannelMoved]


@pytest.mark.parametrize(
    ("where", "name", "is_after"),
    [
        (moving, "write_move", False),
        (moving, "write_move", True),
        (packing, "put_new", False),
        (packing, "put_new", True),
        (packing, "written", False),
    ],
)
def test_killed_anywhere_it_goes_on_with_the_same_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: object,
    name: str,
    is_after: bool,
) -> None:
    """After each kill it is marked or writable here, and not complete; then the move is done."""
    here = filled(tmp_path / "a")
    archive = tmp_path / "moved.zip"
    whole = getattr(where, name)

    def killed(*arguments: object) -> object:
        if is_after:
            whole(*arguments)
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(where, name, killed)
        with pytest.raises(_Killed):
            move_out(here, _CHANNEL, archive, NOW, "1")
    own = here.folder_of(_CHANNEL) / ".pipimem"
    move = moved.read_move(own)
    assert move is None or not move.is_complete
    before = _of_channel(tmp_path / "a", here)
    if move is not None:
        with pytest.raises(ChannelMoved, match="being moved"):
            ChannelStore.open(here, _CHANNEL, create=False)
    move_out(here, _CHANNEL, archive, NOW, "1")
    finished = moved.read_move(own)
    assert finished is not None
    assert finished.is_complete
    there = workspace(tmp_path / "b")
    import_archive(there, archive, NOW)
    assert _of_channel(tmp_path / "b", there) == before


def test_a_move_that_was_begun_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The channel is written to again; without a move there is nothing to cancel."""
    here = filled(tmp_path / "a")
    assert not cancel_move(here, _CHANNEL)

    def killed(*_: object) -> None:
        raise _Killed

    with monkeypatch.context() as patched:
        patched.setattr(packing, "put_new", killed)
        with pytest.raises(_Killed):
            move_out(here, _CHANNEL, tmp_path / "moved.zip", NOW, "1")
    assert cancel_move(here, _CHANNEL)
    ChannelStore.open(here, _CHANNEL, create=False).commit(remembered("here again"), NOW)
    assert not (tmp_path / "moved.zip").exists()


def test_a_complete_move_is_taken_back_with_its_archive_alone(tmp_path: Path) -> None:
    """The archive is deleted: the channel is in one place."""
    here = filled(tmp_path / "a")
    archive, other = tmp_path / "moved.zip", tmp_path / "other.zip"
    move_out(here, _CHANNEL, archive, NOW, "1")
    other.write_bytes(b"another")
    for given in (None, other, tmp_path / "nothing.zip"):
        with pytest.raises(ArchiveError, match="Give that archive"):
            cancel_move(here, _CHANNEL, given)
    assert cancel_move(here, _CHANNEL, archive)
    assert not archive.exists()
    ChannelStore.open(here, _CHANNEL, create=False).commit(remembered("here again"), NOW)


def test_what_was_moved_is_not_moved_again_nor_imported_over(tmp_path: Path) -> None:
    """Each says what happened and what to do."""
    here = filled(tmp_path / "a")
    archive = tmp_path / "moved.zip"
    move_out(here, _CHANNEL, archive, NOW, "1")
    with pytest.raises(ArchiveError, match=r"was moved to .* already"):
        move_out(here, _CHANNEL, tmp_path / "second.zip", NOW, "1")
    with pytest.raises(ArchiveError, match="was moved out of"):
        import_archive(here, archive, NOW)


def test_another_file_of_the_archives_name_is_left_alone(tmp_path: Path) -> None:
    """The channel is as it was: writable."""
    here = filled(tmp_path / "a")
    archive = tmp_path / "moved.zip"
    archive.write_bytes(b"mine")
    with pytest.raises(ArchiveError, match="is there already"):
        move_out(here, _CHANNEL, archive, NOW, "1")
    assert archive.read_bytes() == b"mine"
    ChannelStore.open(here, _CHANNEL, create=False).commit(remembered("goes on"), NOW)


def test_a_damaged_mark_writes_nothing_until_it_is_lifted(tmp_path: Path) -> None:
    """It counts as a move that is not complete."""
    here = filled(tmp_path / "a")
    own = here.folder_of(_CHANNEL) / ".pipimem"
    (own / "moved.json").write_bytes(b"\x00\x00")
    with pytest.raises(ChannelMoved, match="being moved"):
        ChannelStore.open(here, _CHANNEL, create=False)
    assert cancel_move(here, _CHANNEL)
    ChannelStore.open(here, _CHANNEL, create=False).commit(remembered("goes on"), NOW)
