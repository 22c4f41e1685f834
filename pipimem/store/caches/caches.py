"""The caches of one channel: read by anybody, written only while nothing they hold was forgotten."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pipimem.notes.notes import Notes
from pipimem.store.caches import figures, search, stamped
from pipimem.store.disk.calls import told_at_the_door
from pipimem.store.disk.files import remove
from pipimem.store.pages import Bookmark, Pages
from pipimem.store.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Caches:
    """What a start or a search would have to find out again. All of it may be lost at any time.

    `_keeping` is the channel's. Every `kept_…` is empty or `None` where nothing was kept, or it is damaged, stale or
    out of reach.
    """

    folder: Path
    _transcript: Transcript
    _is_saved: bool
    _keeping: Callable[[Notes | None, bool], AbstractContextManager[bool]]

    @property
    def _own(self) -> Path:
        return self.folder / ".pipimem"

    def kept_words(self, stamp: str) -> str:
        """What `keep_words` was given under the same stamp."""
        return stamped.load(self._own / stamped.WORDS, stamp).decode()

    @told_at_the_door
    def keep_words(self, stamp: str, text: str, seen: Notes) -> None:
        """Keeps the words of the notes `seen`."""
        with self._keeping(seen, False) as may:
            if may:
                stamped.save(self._own / stamped.WORDS, stamp, text.encode("utf-8", "replace"))

    def kept_vectors(self, embedder: str) -> bytes:
        """What `keep_vectors` was given under the same embedder."""
        return stamped.load(self._own / stamped.VECTORS, stamped.stamp_of(embedder))

    @told_at_the_door
    def keep_vectors(self, embedder: str, body: bytes, seen: Notes) -> None:
        """Keeps the vectors of the notes `seen`.

        Marks are made with the channel's key, so a folder that people made becomes a channel of ours here.
        """
        with self._keeping(seen, True) as may:
            if may:
                stamped.save(self._own / stamped.VECTORS, stamped.stamp_of(embedder), body)

    def kept_search(self, stamp: str) -> tuple[Pages, memoryview] | None:
        """The index of the transcript that `keep_search` was given under the same stamp, and how far it goes."""
        return search.load(self._own, stamp, self._transcript)

    def keep_search(self, stamp: str, read: Bookmark, index: bytes) -> bool:
        """Keeps an index of what was read; whether it could."""
        return self._is_saved and search.save(self._own, stamp, self._transcript, read, index)

    def search_lag(self, stamp: str) -> int:
        """About how many bytes of talk the kept index does not have."""
        return search.lag(self._own, stamp, self._transcript)

    def drop_search(self) -> None:
        """Takes away an index that is of no use."""
        if self._is_saved:
            search.drop(self._own)

    def kept_figures(self) -> figures.Kept:
        """How recall did here, in all processes that have told so far."""
        return figures.load(self._own)

    @told_at_the_door
    def add_figures(self, later: figures.Kept) -> None:
        """Adds what a process counted; only a channel that is saved has a place for it."""
        with self._keeping(None, False) as may:
            if may:
                figures.add(self._own, later)


def drop_texts(folder: Path) -> None:
    """Takes away every cache that is made of texts: what is forgotten is not to be found in one either."""
    remove(folder / stamped.WORDS)
    remove(folder / stamped.VECTORS)
    search.drop(folder)
