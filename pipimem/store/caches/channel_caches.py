"""The caches of a channel: written only if nothing that they hold was forgotten meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct, field

from pipimem.errors import StoreError
from pipimem.notes.notes import Notes
from pipimem.store.caches import search_index, stamped
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.disk.syscalls import raises_store_error, read_whole
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.private import PrivateCounts

FIGURES = "recall.json"
# The waits of so many turns are kept: enough for a 95th percentile, 3 KB.
LATEST = 500


class TurnFigures(Struct, frozen=True):
    """How many turns there were, and how many milliseconds the latest waited for recall.

    `private` counts what was hidden of messages, in so many sessions.
    """

    turns: int = 0
    waits: tuple[float, ...] = ()
    private: PrivateCounts = field(default_factory=PrivateCounts)
    private_sessions: int = 0

    def and_then(self, later: TurnFigures) -> TurnFigures:
        """These turns and the later ones."""
        return TurnFigures(
            self.turns + later.turns,
            (*self.waits, *later.waits)[-LATEST:],
            self.private + later.private,
            self.private_sessions + later.private_sessions,
        )

    def wait(self, share: float) -> float | None:
        """The milliseconds that this share of the turns waited at most; `None` without turns."""
        ordered = sorted(self.waits)
        if not ordered:
            return None
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Caches(Struct, frozen=True):
    """What a start or a search would have to compute again; all of it may be lost at any time.

    `_keeping` holds the channel's lock and says whether a cache may be written. What `kept_…`
    returns is empty or `None` where nothing was kept, or it is damaged, stale or out of reach.
    """

    folder: Path
    _transcript: Transcript
    _is_saved: bool
    _keeping: Callable[[Notes | None, bool], AbstractContextManager[bool]]

    @property
    def _own(self) -> Path:
        return self.folder / ".pipimem"

    def kept_words(self, stamp: str) -> str:
        """The text that `keep_words` was given under the same stamp."""
        return stamped.load(self._own / stamped.WORDS, stamp).decode()

    @raises_store_error
    def keep_words(self, stamp: str, text: str, seen: Notes) -> None:
        """Writes the words of the notes `seen`."""
        with self._keeping(seen, False) as may:
            if may:
                stamped.save(self._own / stamped.WORDS, stamp, text.encode("utf-8", "replace"))

    def kept_vectors(self, embedder: str) -> bytes:
        """The bytes that `keep_vectors` was given under the same embedder."""
        return stamped.load(self._own / stamped.VECTORS, embedder)

    @raises_store_error
    def keep_vectors(self, embedder: str, body: bytes, seen: Notes) -> None:
        """Writes the vectors of the notes `seen`.

        Their marks are made with the channel's key, so a folder that people made becomes a channel
        of ours here.
        """
        with self._keeping(seen, True) as may:
            if may:
                stamped.save(self._own / stamped.VECTORS, embedder, body)

    def kept_search(self, stamp: str) -> tuple[TranscriptReader, memoryview] | None:
        """The index that `keep_search` was given under the same stamp, and a reader behind it."""
        return search_index.load(self._own, stamp, self._transcript)

    def keep_search(self, stamp: str, read: ReadPosition, index: bytes) -> bool:
        """Writes an index of what was read; whether it could."""
        return self._is_saved and search_index.save(self._own, stamp, self._transcript, read, index)

    def search_lag(self, stamp: str) -> int:
        """About how many bytes of the transcript the kept index lacks."""
        return search_index.lag(self._own, stamp, self._transcript)

    def drop_search(self) -> None:
        """Removes the index."""
        if self._is_saved:
            search_index.drop(self._own)

    def kept_figures(self) -> TurnFigures:
        """How long turns waited for recall, in all processes that wrote it so far."""
        try:
            return decoded(TurnFigures, json_lines.value(read_whole(self._own / FIGURES)))
        except (OSError, StoreError, CodecError):
            return TurnFigures()

    @raises_store_error
    def add_figures(self, later: TurnFigures) -> None:
        """Adds what a process counted, in a channel that is saved."""
        with self._keeping(None, False) as may:
            if may:
                kept = self.kept_figures().and_then(later)
                put_whole(self._own / FIGURES, json_lines.line(encoded(kept)), synced=False)


def drop_texts(folder: Path) -> None:
    """Removes every cache that is made of texts, for they may hold what is to be forgotten."""
    remove(folder / stamped.WORDS)
    remove(folder / stamped.VECTORS)
    search_index.drop(folder)
