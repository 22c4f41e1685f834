"""When a channel may keep what only saves time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from pipimem.errors import StoreError
from pipimem.notes.kinds import File
from pipimem.notes.operations import Decision
from pipimem.store.caches import channel_caches
from pipimem.store.caches.channel_caches import FIGURES, LATEST, TurnFigures
from pipimem.store.channel import ChannelStore
from pipimem.store.transcript.reader import TranscriptReader
from pipimem.store.workspace import WorkspaceStore

Add = Callable[..., Decision]


@pytest.fixture
def adopted(workspace: WorkspaceStore) -> ChannelStore:
    """A folder that people made, opened to look: nothing in it is ours yet."""
    folder = workspace.root / "channels" / "team"
    folder.mkdir()
    (folder / File.MEMORY).write_text("- bob likes tea\n")
    return ChannelStore.open(workspace, "team", create=False)


def test_another_object_finds_what_one_kept(channel: ChannelStore) -> None:
    """Nothing of it is held in memory."""
    channel.caches.keep_words("cut", "tea", channel.notes())
    channel.caches.add_figures(TurnFigures(turns=2))
    other = ChannelStore.open(channel.workspace, "team", create=False).caches
    assert (other.kept_words("cut"), other.kept_words("another cut")) == ("tea", "")
    assert other.kept_figures() == TurnFigures(turns=2)


def test_looking_at_a_folder_of_people_leaves_nothing_in_it(adopted: ChannelStore) -> None:
    """Words, an index and figures wait until it is a channel of ours."""
    read_position = TranscriptReader(adopted.transcript).read_position()
    adopted.caches.keep_words("cut", "tea", adopted.notes())
    adopted.caches.add_figures(TurnFigures(turns=1))
    adopted.caches.drop_search()
    assert not adopted.caches.keep_search("cut", read_position, b"index")
    assert [path.name for path in adopted.folder.iterdir()] == [File.MEMORY]


def test_vectors_make_it_a_channel_of_ours(adopted: ChannelStore) -> None:
    """Their marks are made with its key, which must then stay."""
    adopted.caches.keep_vectors("toy", b"tea", adopted.notes())
    again = ChannelStore.open(adopted.workspace, "team", create=False)
    assert (again.channel_folder.is_saved, again.key) == (True, adopted.key)
    assert again.caches.kept_vectors("toy") == b"tea"


def test_what_was_read_before_a_forgetting_is_not_kept(
    channel: ChannelStore, now: datetime, add: Add
) -> None:
    """It may hold what was to be gone; figures hold no text, so they stay."""
    channel.commit(add("call 555 0199", "bob likes tea"), now)
    seen = channel.notes()
    channel.forget("555 0199", keep_transcript=False, now=now)
    channel.caches.keep_words("cut", "0199", seen)
    channel.caches.add_figures(TurnFigures(turns=1))
    assert channel.caches.kept_words("cut") == ""
    assert channel.caches.kept_figures().turns == 1


def test_what_the_system_refuses_names_the_channel(
    channel: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is a `StoreError`, not a bare one of the system."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(channel_caches.stamped, "save", full)
    with pytest.raises(StoreError, match="team"):
        channel.caches.keep_words("cut", "tea", channel.notes())


def test_figures_of_several_processes_are_added_up(channel: ChannelStore) -> None:
    """Counts are summed; of the waits the latest stay."""
    channel.caches.add_figures(TurnFigures(2, (1.0, 9.0)))
    channel.caches.add_figures(TurnFigures(LATEST, (2.0,) * (LATEST - 1)))
    kept = channel.caches.kept_figures()
    assert kept.turns == LATEST + 2
    assert kept.waits == (9.0, *(2.0,) * (LATEST - 1))


def test_the_wait_of_a_share_of_turns(channel: ChannelStore) -> None:
    """Half of them waited at most this long; where there was no turn nothing is claimed."""
    assert TurnFigures(waits=tuple(map(float, range(100)))).wait(0.5) == 50.0
    assert TurnFigures(waits=tuple(map(float, range(100)))).wait(0.95) == 95.0
    assert channel.caches.kept_figures().wait(0.5) is None


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"turns": "many"}', b"\xff\x00"])
def test_a_damaged_file_of_figures_counts_from_nothing(
    channel: ChannelStore, damaged: bytes
) -> None:
    """It is disposable: nobody is bothered with it."""
    (channel.folder / ".pipimem" / FIGURES).write_bytes(damaged)
    assert channel.caches.kept_figures() == TurnFigures()
    channel.caches.add_figures(TurnFigures(1, (1.5,)))
    assert channel.caches.kept_figures() == TurnFigures(1, (1.5,))
