"""Texts the files once had, whole: what a person's edit is compared with, and what undo starts from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.store.disk.calls import make_folder, sync_folder, told
from pipimem.store.disk.files import own_text, put_whole, remove, sync_file
from pipimem.text.dates.bounds import later

# A channel has few in a month: most texts are told by the splices of the journal. But what a forgetting leaves of these
# are versions, as many as a person's edit is compared with.
_KEPT = 200
_AGE = timedelta(days=30)
# A channel's notes are a few hundred KB at most; only somebody's huge file comes near this.
_BYTES = 32 * 1024 * 1024
# 64 bits of the etag name a file; the whole etag is checked on reading.
NAME_LENGTH = 16
_NOTHING = etag("")
_FILES = {str(file): file for file in File}


@dataclass(frozen=True, slots=True)
class Versions:
    """The folder `.pipimem/versions/` of a channel."""

    folder: Path

    def text(self, file: File, mark: str) -> str | None:
        """The text of a file with this etag, or one that begins so; `None` where it is not kept."""
        if mark == _NOTHING:
            return ""
        text = own_text(self._path(file, mark))
        # Gone or damaged: the caller goes on without it.
        if text is None:
            return None
        return text if etag(text).startswith(mark) else None

    def names(self, file: File) -> list[str]:
        """The first digits of the etag of every version of a file, the newest first."""
        return [path.name[len(file) + 1 :] for path in self._newest_first(file)]

    def keep(self, file: File, text: str, *, synced: bool = True) -> None:
        """Keeps a text; with `synced` it is on the disk with its name when this returns.

        Without, a power cut may take it: for texts that only help to recognise a person's edit.
        """
        path = self._path(file, etag(text))
        if own_text(path) != text:  # not there, or damaged
            make_folder(self.folder)
            put_whole(path, text.encode(), synced=False)
        else:
            with told("write", path):
                os.utime(path)  # as young as its last use, or it would be pruned too early
        if synced:
            sync_file(path)
            sync_folder(self.folder)

    def keep_only(self, file: File, texts: Sequence[str], now: datetime) -> None:
        """Keeps these texts of a file, the newest first, and no other."""
        kept = set()
        for age, text in reversed(list(enumerate(texts))):
            self.keep(file, text, synced=False)
            path = self._path(file, etag(text))
            kept.add(path)
            # A clock may count in milliseconds, and their order matters.
            when = now.timestamp() - age / 1000
            with told("write", path):
                os.utime(path, (when, when))
        for path in self.paths(file):
            if path not in kept:
                remove(path)

    def prune(self, now: datetime | None) -> None:
        """Drops the oldest beyond 200 a file, those older than 30 days, and the oldest of all beyond 32 MiB; the
        newest of each file always stays."""
        limit = later(now, -_AGE).timestamp() if now else float("-inf")
        spare: list[tuple[float, int, Path]] = []
        room = _BYTES
        for kept in self._by_file().values():
            for index, (written, size, path) in enumerate(sorted(kept, reverse=True)):
                if index >= _KEPT or (index and written < limit):
                    remove(path)
                    continue
                room -= size
                if index:
                    spare.append((written, size, path))
        for _, size, path in sorted(spare):
            if room >= 0:
                return
            room += size
            remove(path)

    def paths(self, file: File) -> list[Path]:
        """The kept texts of a file."""
        return [path for _, _, path in self._by_file().get(file, ())]

    def _newest_first(self, file: File) -> list[Path]:
        return [path for _, _, path in sorted(self._by_file().get(file, ()), reverse=True)]

    def _by_file(self) -> dict[File, list[tuple[float, int, Path]]]:
        """When each kept text was used last, its size and path: one look at the folder, one at each of them."""
        found: dict[File, list[tuple[float, int, Path]]] = {}
        with told("read", self.folder):
            try:
                entries = os.scandir(self.folder)
            except FileNotFoundError:
                return found
            with entries:
                for entry in entries:
                    file = _FILES.get(entry.name[: -NAME_LENGTH - 1])
                    if file is not None and entry.name[-NAME_LENGTH - 1] == ".":
                        status = entry.stat()
                        found.setdefault(file, []).append(
                            (status.st_mtime, status.st_size, self.folder / entry.name)
                        )
        return found

    def _path(self, file: File, mark: str) -> Path:
        return self.folder / f"{file}.{mark[:NAME_LENGTH]}"
