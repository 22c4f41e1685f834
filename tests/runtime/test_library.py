"""The shelves of the channels, kept fresh."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pipimem.errors import ChannelError
from pipimem.notes.message import Message
from pipimem.recall.search.filters import Filters
from pipimem.runtime.library import Library
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

ANY = Filters()
NOON = datetime(2026, 3, 12, 12, tzinfo=UTC)


@pytest.fixture
def room(tmp_path: Path) -> ChannelStore:
    """A channel in which one thing was said."""
    (tmp_path / "pipimem.toml").touch()
    store = ChannelStore.open(WorkspaceStore.open(tmp_path), "room", create=True)
    store.transcript.append([Message.user("the ferry leaves at nine", id="a", time=NOON)])
    return store


def found(library: Library, query: str) -> list[str]:
    """The ids a search gives."""
    return [hit.item.id for hit in library.found("room", query, 5, ANY)]


def test_what_is_said_later_is_found(room: ChannelStore) -> None:
    """Without reading again what was there."""
    library = Library(room.workspace)
    assert found(library, "ferry") == ["log:a"]
    shelf = library.shelf("room")
    room.transcript.append([Message.user("the tram leaves at ten", id="b", time=NOON)])
    assert found(library, "tram")[0] == "log:b"
    assert library.shelf("room") is shelf


def test_a_rewritten_transcript_is_read_anew(room: ChannelStore) -> None:
    """What `forget` took away is not found any more."""
    library = Library(room.workspace)
    assert found(library, "ferry") == ["log:a"]
    path = room.transcript.path
    other = path.with_suffix(".new")
    other.write_text(path.read_text().replace("ferry", "[gone]"))
    other.replace(path)
    assert found(library, "ferry") == []


def test_words_txt_counts(room: ChannelStore) -> None:
    """Its synonyms, beside those everybody knows."""
    (room.workspace.root / "words.txt").write_text("blue whale, ferry\n")
    assert found(Library(room.workspace), "blue whale") == ["log:a"]


def test_an_unknown_channel_is_said(room: ChannelStore) -> None:
    """And not made."""
    with pytest.raises(ChannelError):
        Library(room.workspace).shelf("rome")
