"""`search.idx`: believed only when it is whole, of this tokenizer and of these very files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pipimem.notes.message import Message
from pipimem.store.caches import search_index as search_file
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader

BODY = b"\x00words\n\xff"


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    """Two messages."""
    made = Transcript(tmp_path, FolderLock(tmp_path / "lock"))
    made.append([Message.user("one", id="a"), Message.user("two", id="b")])
    return made


def read(transcript: Transcript) -> ReadPosition:
    """All of it read."""
    pages = TranscriptReader(transcript)
    list(pages.fresh())
    return pages.read_position()


def kept(transcript: Transcript, stamp: str = "stamp") -> bytes | None:
    """The body that is loaded."""
    found = search_file.load(transcript.folder, stamp, transcript)
    return found and bytes(found[1])


def test_what_is_kept_comes_back_with_its_place(transcript: Transcript) -> None:
    """Byte for byte; what was said later is left to be read. The file is closed to others."""
    assert search_file.save(transcript.folder, "stamp", transcript, read(transcript), BODY)
    transcript.append([Message.user("three", id="c")])
    found = search_file.load(transcript.folder, "stamp", transcript)
    assert found is not None
    assert bytes(found[1]) == BODY
    assert [message.id for message in found[0].fresh()] == ["c"]
    assert [found[0].message(place).id for place in range(3)] == ["a", "b", "c"]
    path = transcript.folder / search_file.NAME
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in transcript.folder.iterdir()) == [
        "lock",
        "lock.turnstile",
        "log.jsonl",
        "search.idx",
    ]


def test_an_index_of_nothing_is_one(tmp_path: Path) -> None:
    """Nothing was said: no part, no place."""
    empty = Transcript(tmp_path, FolderLock(tmp_path / "lock"))
    assert search_file.save(tmp_path, "stamp", empty, read(empty), BODY)
    assert kept(empty) == BODY


def test_another_tokenizer_is_another_matter(transcript: Transcript) -> None:
    """Words cut otherwise are of no use, and count as not there."""
    search_file.save(transcript.folder, "stamp", transcript, read(transcript), BODY)
    assert kept(transcript, "another") is None
    size = transcript.path.stat().st_size
    assert search_file.lag(transcript.folder, "another", transcript) == size
    assert search_file.lag(transcript.folder, "stamp", transcript) == 0


def test_another_channels_file_is_none(transcript: Transcript, tmp_path: Path) -> None:
    """A folder copied over, or restored in part."""
    search_file.save(transcript.folder, "stamp", transcript, read(transcript), BODY)
    other = tmp_path / "other"
    other.mkdir()
    stranger = Transcript(other, FolderLock(other / "lock"))
    stranger.append([Message.user("one", id="a"), Message.user("2wo", id="b")])
    (other / search_file.NAME).write_bytes((tmp_path / search_file.NAME).read_bytes())
    assert kept(stranger) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_byte_that_is_another_is_noticed(transcript: Transcript, data: st.DataObject) -> None:
    """Flipped, cut off, or put on: such a file counts as absent."""
    assert search_file.save(transcript.folder, "stamp", transcript, read(transcript), BODY)
    path = transcript.folder / search_file.NAME
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from(
            (
                whole[:place],
                whole + b"\n",
                whole[:place]
                + bytes((whole[place] ^ data.draw(st.integers(1, 255)),))
                + whole[place + 1 :],
            )
        )
    )
    path.write_bytes(damaged)
    assert kept(transcript) is None
    assert search_file.lag(transcript.folder, "stamp", transcript) <= 10**400


def test_what_was_rewritten_meanwhile_is_not_kept(transcript: Transcript) -> None:
    """A forgetting ran while the index was written: nothing of it stays, under no name."""
    read_position = read(transcript)
    other = transcript.path.with_suffix(".new")
    other.write_bytes(transcript.path.read_bytes().replace(b"two", b"   "))
    other.replace(transcript.path)
    assert not search_file.save(transcript.folder, "stamp", transcript, read_position, BODY)
    assert not [path for path in transcript.folder.iterdir() if "search" in path.name]


def test_nobody_waits_for_it(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel at work keeps its lock: the index is left for another time."""
    monkeypatch.setattr(search_file, "_LOCK_SECONDS", 0.01)
    read_position = read(transcript)
    with transcript.lock.held():
        assert not search_file.save(transcript.folder, "stamp", transcript, read_position, BODY)
    assert not [path for path in transcript.folder.iterdir() if "search" in path.name]


def test_dropping_takes_half_written_ones_too(transcript: Transcript) -> None:
    """A process that was killed while it wrote leaves no words behind."""
    search_file.save(transcript.folder, "stamp", transcript, read(transcript), BODY)
    half = transcript.folder / ".search.idx.half.pipimem-tmp"
    half.write_bytes(b"words")
    search_file.drop(transcript.folder)
    search_file.drop(transcript.folder)
    assert sorted(one.name for one in transcript.folder.iterdir()) == [
        "lock",
        "lock.turnstile",
        "log.jsonl",
    ]
    assert kept(transcript) is None
