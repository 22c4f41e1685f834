"""Messages read by their place."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.transcript import log as module
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.reader import TranscriptReader


@pytest.fixture
def transcript(tmp_path: Path) -> Transcript:
    """Three messages."""
    made = Transcript(tmp_path, FolderLock(tmp_path / "lock"))
    made.append(Message.user(text, id=text) for text in ("one", "zwei", "三"))
    return made


def contents(pages: TranscriptReader) -> list[str]:
    """Every message by its place."""
    return [pages.message(place).content for place in range(len(pages))]


def test_what_comes_later_is_read_once(transcript: Transcript) -> None:
    """Each reading gives what the one before did not have."""
    pages = TranscriptReader(transcript)
    assert [message.content for message in pages.fresh()] == ["one", "zwei", "三"]
    transcript.append([Message.user("four", id="four")])
    assert [message.content for message in pages.fresh()] == ["four"]
    assert list(pages.fresh()) == []
    assert contents(pages) == ["one", "zwei", "三", "four"]
    assert not pages.rewritten


def test_a_rotation_moves_no_place(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    """The part gets another name and stays where it was in their order."""
    pages = TranscriptReader(transcript)
    assert len(list(pages.fresh())) == 3
    monkeypatch.setattr(module, "_ROTATE_AT", 10)
    transcript.append([Message.user("four", id="four")])
    assert len(transcript.parts()) == 2
    assert not pages.rewritten
    assert [message.content for message in pages.fresh()] == ["four"]
    assert contents(pages) == ["one", "zwei", "三", "four"]


def test_a_line_still_being_written_waits(transcript: Transcript) -> None:
    """A torn end is no message; a line that is none has no place."""
    pages = TranscriptReader(transcript)
    with transcript.path.open("ab") as file:
        file.write(b'no json\n{"id": "x", "n": 4, "role": "user", ')
    assert len(list(pages.fresh())) == 3
    with transcript.path.open("ab") as file:
        file.write(b'"content": "four", "ts": "", "name": ""}\n')
    assert [message.content for message in pages.fresh()] == ["four"]
    assert pages.message(3).content == "four"


def test_what_was_rewritten_is_noticed(transcript: Transcript) -> None:
    """Another file, or a shorter one; a place in it that holds no message is said."""
    pages = TranscriptReader(transcript)
    assert len(list(pages.fresh())) == 3
    transcript.path.write_bytes(b"x\n")
    assert pages.rewritten
    with pytest.raises(StoreError, match="Search again"):
        pages.message(2)
    transcript.path.unlink()
    assert pages.rewritten
    with pytest.raises(StoreError, match="Search again"):
        pages.message(0)


def test_a_file_that_is_as_long_again_is_noticed(transcript: Transcript) -> None:
    """The same inode, and longer than what was read of it: only the bytes tell."""
    pages = TranscriptReader(transcript)
    assert len(list(pages.fresh())) == 3
    data = transcript.path.read_bytes().replace(b"zwei", b"")
    with transcript.path.open("r+b") as file:
        file.truncate(0)
        file.write(data + data)
    assert pages.rewritten


def test_a_file_replaced_between_the_question_and_the_reading_is_noticed(
    transcript: Transcript,
) -> None:
    """What the new file says does not become a part of the old one's reading."""
    pages = TranscriptReader(transcript)
    assert len(list(pages.fresh())) == 3
    assert not pages.rewritten
    data = transcript.path.read_bytes().replace(b"one", b"two")
    transcript.path.write_bytes(data + data)
    assert list(pages.fresh()) == []
    assert pages.rewritten


def test_the_same_stamps_with_other_bytes_are_noticed(transcript: Transcript) -> None:
    """Size, inode and time can be given back; the time of the last change of any kind cannot."""
    pages = TranscriptReader(transcript)
    assert len(list(pages.fresh())) == 3
    before = transcript.path.stat()
    time.sleep(0.02)  # a clock of files may stand still for so long
    with transcript.path.open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(b"one", b"two"))
    os.utime(transcript.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert pages.rewritten


def test_no_transcript_has_no_pages(tmp_path: Path) -> None:
    """A channel in which nothing was said."""
    pages = TranscriptReader(Transcript(tmp_path, FolderLock(tmp_path / "lock")))
    assert list(pages.fresh()) == []
    assert not pages.rewritten


def test_reading_goes_on_at_a_bookmark(transcript: Transcript) -> None:
    """What was read before is not read again, and every message keeps its place."""
    pages = TranscriptReader(transcript)
    list(pages.fresh())
    read_position = pages.read_position()
    transcript.append([Message.user("four", id="four")])
    again = TranscriptReader.resumed(transcript, read_position)
    assert again is not None
    assert [message.content for message in again.fresh()] == ["four"]
    assert contents(again) == ["one", "zwei", "三", "four"]


def test_a_bookmark_survives_a_rotation_and_a_copy(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is what the files say, not which files they are."""
    monkeypatch.setattr(module, "_ROTATE_AT", 10)
    transcript.append([Message.user("four", id="four")])
    pages = TranscriptReader(transcript)
    list(pages.fresh())
    read_position = pages.read_position()
    transcript.append([Message.user("five", id="five")])
    for part in transcript.parts():
        copy = part.with_suffix(".copy")
        copy.write_bytes(part.read_bytes())
        copy.replace(part)
    again = TranscriptReader.resumed(transcript, read_position)
    assert again is not None
    assert [message.content for message in again.fresh()] == ["five"]
    assert contents(again) == ["one", "zwei", "三", "four", "five"]


@pytest.mark.parametrize("number", [0, 1], ids=["a full part", "the last part"])
@pytest.mark.parametrize("change", ["one letter", "one line less", "no file"])
def test_a_bookmark_of_other_text_is_refused(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch, number: int, change: str
) -> None:
    """Changed in place by as little as one letter, cut, or gone."""
    monkeypatch.setattr(module, "_ROTATE_AT", 10)
    transcript.append([Message.user("four", id="four"), Message.user("five", id="five")])
    pages = TranscriptReader(transcript)
    list(pages.fresh())
    read_position = pages.read_position()
    part = transcript.parts()[number]
    data = part.read_bytes()
    match change:
        case "one letter":
            with part.open("r+b") as file:  # the same inode and size
                file.seek(data.index(b"content") + 11)
                file.write(b"X")
        case "one line less":
            part.write_bytes(data[: data[:-1].rindex(b"\n") + 1])
        case _:
            part.unlink()
    if part.exists():  # a clock too coarse to tell the two writings apart is another matter
        os.utime(part, ns=(1, 1))
    assert TranscriptReader.resumed(transcript, read_position) is None
