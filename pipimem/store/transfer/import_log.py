"""The imports of a workspace: what each brought in, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Container
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct, field

from pipimem.errors import NothingFound, PipimemError
from pipimem.notes.kinds import File
from pipimem.store import identity
from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.disk import appended_files
from pipimem.store.disk.appended_files import append_synced, lines
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.folder_lock import FolderLock
from pipimem.store.disk.syscalls import make_folder, read_if_there
from pipimem.store.identity import ChannelFolder
from pipimem.store.transcript.log import LOCK, Transcript
from pipimem.store.transcript.message_line import parsed
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded


def drop_messages(channel: ChannelFolder, transcript: Transcript, numbers: Container[int]) -> int:
    """Rewrites each file of the transcript without the messages of some numbers.

    Each file is rewritten whole or not at all. The numbers are not given again: the ledger keeps
    the greatest. Returns how many messages went. Raises `StoreError`.
    """
    dropped = 0
    with channel.lock.held(), transcript.exclusive():
        drop_texts(channel.own)
        for part in transcript.parts():
            kept = [data for data in appended_files.lines(part) if not _is_one_of(data, numbers)]
            before = sum(1 for _ in appended_files.lines(part))
            if len(kept) < before:
                put_whole(part, b"".join(kept))
                dropped += before - len(kept)
    return dropped


def _is_one_of(data: bytes, numbers: Container[int]) -> bool:
    message = parsed(data)
    return message is not None and message.number in numbers


_NAME = "imports.jsonl"
OWN_ARCHIVE = "pipimem"
"""The kind of an import of an archive of our own."""
IMPORT = "import"
"""The task of a change that an import made."""


class ImportedChannel(Struct, frozen=True):
    """What an import did to one channel.

    It made it where `is_new`, and left it with this `mark` then. Its messages have the numbers from
    `first` to `last`, its changes of the notes come after the record `before` of the journal; they
    are `records`. Where it is not done, it was killed before it could say the last two. `key` is
    the mark of the channel's key: one made anew under the same id since is another.
    """

    id: str
    key: str
    is_new: bool = False
    mark: str = ""
    first: int = 1
    last: int = 0
    before: int = 0
    records: tuple[int, ...] = ()
    is_done: bool = False


class ImportRecord(Struct, frozen=True):
    """One import, or with `undoes` the number of one that was taken back.

    It has no name of a file: that may be somebody's, whom a forgetting would have to find here.
    """

    number: int
    time: str
    kind: str = ""
    channels: tuple[ImportedChannel, ...] = field(default=())
    undoes: int = 0


class ImportLog(Struct, frozen=True):
    """`.pipimem/imports.jsonl` of a workspace: one line an import, and one for each taken back."""

    folder: Path

    def records(self) -> list[ImportRecord]:
        """All imports, oldest first; a line that is none is passed over."""
        found = []
        for data in lines(self.folder / _NAME):
            try:
                found.append(decoded(ImportRecord, json_lines.value(data)))
            except CodecError:
                continue
        return found

    def standing(self) -> list[ImportRecord]:
        """The imports that were not taken back, oldest first; the last line of a number counts."""
        records = self.records()
        undone = {record.undoes for record in records}
        by_number = {one.number: one for one in records if not one.undoes}
        return [one for number, one in by_number.items() if number not in undone]

    def chosen(self, number: int | None) -> ImportRecord:
        """The import of a number, without one the newest, of those that still stand.

        Raises `NothingFound`.
        """
        found = [one for one in self.standing() if number in (None, one.number)]
        if not found:
            which = "no import" if number is None else f"no import {number}"
            raise NothingFound(f"{which} of this workspace is left to be taken back")
        return found[-1]

    def next_number(self) -> int:
        """The number of an import that begins now."""
        return max((record.number for record in self.records()), default=0) + 1

    def add(self, record: ImportRecord) -> None:
        """Writes a line, synced."""
        make_folder(self.folder)
        torn = not (read_if_there(self.folder / _NAME) or b"\n").endswith(b"\n")
        data = json_lines.line(encoded(record))
        append_synced(self.folder / _NAME, b"\n" * torn + data)


def key_mark(folder: Path) -> str:
    """The mark of the key in a channel's `channel.json`; empty where there is none to be read."""
    try:
        known = identity.load(folder)
    except PipimemError:
        return ""
    return blake2b(known.key, digest_size=8).hexdigest() if known else ""


def content_mark(folder: Path) -> str:
    """The mark of a channel's notes and of how far its transcript goes; another one says that
    somebody wrote to it.
    """
    digest = blake2b(digest_size=16)
    for file in File:
        digest.update(read_if_there(folder / file) or b"")
        digest.update(b"\0")
    newest = Transcript(folder, FolderLock(folder / ".pipimem" / LOCK)).last_number
    digest.update(str(newest).encode())
    return digest.hexdigest()
