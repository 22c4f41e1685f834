"""Texts the files once had, whole: a person's edit is compared with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from pipimem.notes.kinds import File, etag
from pipimem.store.disk.files import own_text, put_whole, regular_text, remove, sync_file
from pipimem.store.disk.syscalls import make_folder, store_errors, sync_folder
from pipimem.text.dates.bounds import later

# A channel has few in a month: most texts are told by the splices of the journal. But what a
# forgetting leaves of these are versions, as many as a person's edit is compared with.
_KEPT = 200
_AGE = timedelta(days=30)
# A channel's notes are a few hundred KB at most; only somebody's huge file comes near this.
_BYTES = 32 * 1024 * 1024
# 64 bits of the etag name a file; the whole etag is checked on reading.
NAME_LENGTH = 16
_NOTHING = etag("")


class Versions(Struct, frozen=True):
    """The folder `.pipimem/versions/` of a channel."""

    folder: Path

    def text(self, file: File, mark: str) -> str | None:
        """The text of a file with this etag, or one that begins so; `None` where it is not kept."""
        if mark == _NOTHING:
            return ""
        text = own_text(self._path(file, mark))
        # Gone or damaged: the caller goes on without it.
        return text if text is not None and etag(text).startswith(mark) else None

    def names(self, file: File) -> list[str]:
        """The first digits of the etag of every version of a file, the newest first."""
        return [path.name[len(file) + 1 :] for path in self.paths(file)]

    def keep(self, file: File, text: str, *, synced: bool = True) -> None:
        """Keeps a text; with `synced` it is on the disk with its name when this returns.

        Without, a power cut may take it: for texts that only help to recognise a person's edit.
        """
        path = self._put(file, text)
        if synced:
            sync_file(path)
            sync_folder(self.folder)

    def _put(self, file: File, text: str, used: float | None = None) -> Path:
        """Writes a text with the time it was `used` last; `None` is now. Returns its path."""
        path = self._path(file, etag(text))
        if own_text(path) != text:  # not there, or damaged
            make_folder(self.folder)
            put_whole(path, text.encode(), synced=False, modified=used)
        else:
            with store_errors("write", path):
                # As young as its last use, or it would be pruned too early.
                os.utime(path, None if used is None else (used, used))
        return path

    def keep_only(self, file: File, texts: Sequence[str], now: datetime) -> None:
        """Keeps these texts of a file, the newest first, and no other."""
        # The newest first: where a crash cuts this off, the others have older times still. A clock
        # may count in milliseconds, and their order matters.
        kept = {
            self._put(file, text, now.timestamp() - age / 1000)
            for age, text in enumerate(dict.fromkeys(texts))
        }
        for path in self.paths(file):
            if path not in kept:
                remove(path)

    def prune(self, now: datetime | None) -> None:
        """Drops what is beyond 200 texts a file, 30 days, or 32 MiB in all, the oldest first.

        The newest text of each file always stays.
        """
        limit = later(now, -_AGE).timestamp() if now else float("-inf")
        room = _BYTES
        older: list[tuple[float, int, Path]] = []
        for file in File:
            found = self._newest_first(file)
            room -= sum(size for _, size, _ in found[:1])
            for kept in found[1:_KEPT]:
                if kept[0] >= limit:
                    older.append(kept)
                else:
                    remove(kept[2])
            for _, _, path in found[_KEPT:]:
                remove(path)
        for _, size, path in sorted(older, reverse=True):
            room -= size
            if room < 0:
                remove(path)

    def paths(self, file: File) -> list[Path]:
        """The kept texts of a file, the newest first."""
        return [path for _, _, path in self._newest_first(file)]

    def _newest_first(self, file: File) -> list[tuple[float, int, Path]]:
        """When each kept text of a file was used last, its size and its path."""
        found: list[tuple[float, int, Path]] = []
        with store_errors("read", self.folder):
            try:
                entries = os.scandir(self.folder)
            except FileNotFoundError:
                return found
            with entries:
                for entry in entries:
                    if entry.name[: -NAME_LENGTH - 1] == file and entry.name[len(file)] == ".":
                        status = entry.stat()
                        found.append((status.st_mtime, status.st_size, self.folder / entry.name))
        return sorted(found, reverse=True)

    def _path(self, file: File, mark: str) -> Path:
        return self.folder / f"{file}.{mark[:NAME_LENGTH]}"


def is_text_of(path: Path, mark: str) -> bool:
    """Whether a file of ours lies there with the text of an etag, or of one that begins so."""
    text = regular_text(path)
    return text is not None and etag(text).startswith(mark)
