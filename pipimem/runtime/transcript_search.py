"""The index of one channel's transcript: read, kept for the next start, asked for messages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from pipimem.errors import NothingFound, PipimemError
from pipimem.notes.kinds import File
from pipimem.recall.items import Item, Source, history_items, message_item
from pipimem.recall.transcript.transcript_index import (
    TranscriptIndex,
    TranscriptState,
    packed,
    unpacked,
)
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.files import stamp as file_stamp
from pipimem.store.transcript.reader import ReadPosition, TranscriptReader

# Called with the number of the message that was read last, and of the newest; they are equal at the
# end.
Report = Callable[[int, int], None]
_REPORT_EVERY = 100
# Bytes of a transcript, some 200 messages: cutting them takes 30 ms, or in Chinese a tenth of a
# second. Below, the next start cuts them again.
_WORTH_KEEPING = 40_000

# How ids of entries begin: recall gives them, but nobody said them.
_ENTRIES = tuple(f"{source}:" for source in (Source.SESSION, Source.MEMORY, Source.HISTORY))


def no_progress(_read: int, _newest: int) -> None:
    """Ignores progress."""


class TranscriptSearch:
    """One channel's transcript index, and optionally its archive.

    It goes on from the index that was kept by the last one, where that still fits. `report` is told
    how far the reading is.
    """

    def __init__(
        self,
        store: ChannelStore,
        vocabulary: Vocabulary,
        *,
        archive: bool = False,
        most: int | None = None,
        report: Report = no_progress,
    ) -> None:
        self.store, self._stamp = store, vocabulary.stamp()
        self._reader, known = _cached(store, self._stamp)
        self.index = TranscriptIndex(vocabulary.words, self.item, known)
        self._is_current, indexed = known is not None, self._reader.size
        self.update(most, report)
        # Before the archive comes to it: that grows at its own pace, and is cut each time.
        self._to_keep: tuple[ReadPosition, bytes] | None = None
        if self._reader.size - indexed >= _WORTH_KEEPING:
            self._to_keep = self._reader.read_position(), packed(self.index.state())
        self._first = len(self.index)
        # The stamp first: what is added while it is read is found out at the next question.
        self._archive = file_stamp(store.folder / File.ARCHIVE) if archive else None
        self._with_archive = archive
        self._old = _archive_items(store) if archive else ()
        self.index.add_separately(self._old)

    @property
    def is_stale(self) -> bool:
        """Whether the transcript was rewritten or the archive changed: build a new one."""
        found = file_stamp(self.store.folder / File.ARCHIVE) if self._with_archive else None
        return self._reader.rewritten or found != self._archive

    @property
    def last_number(self) -> int:
        """The number of the newest message in the index; 0 where it holds none."""
        return self._reader.message(len(self._reader) - 1).number if len(self._reader) else 0

    def update(self, most: int | None = None, report: Report = no_progress) -> None:
        """Take in what was said since, `most` messages of it."""
        message = None
        for message in islice(self._reader.fresh(), most):
            self.index.add((message_item(message),))
            if message.number % _REPORT_EVERY == 0:
                report(message.number, self.store.transcript.last_number)
        if message is not None:
            report(message.number, message.number)

    def keep(self) -> None:
        """Write the index for the next start; a stale one on disk is removed.

        It is no loss where it cannot be kept: the next start takes longer, that is all.
        """
        with suppress(PipimemError, OSError):
            if self._to_keep is not None:
                self.store.caches.keep_search(self._stamp, *self._to_keep)
            elif not self._is_current:
                self.store.caches.drop_search()
        self._to_keep, self._is_current = None, True

    @property
    def archive(self) -> range:
        """The slots of the archive's bullets."""
        return range(self._first, self._first + len(self._old))

    def item(self, slot: int) -> Item:
        """The bullet or message of a slot."""
        place = slot - self._first
        if place < 0:
            return message_item(self._reader.message(slot))
        if place < len(self._old):
            return self._old[place]
        return message_item(self._reader.message(slot - len(self._old)))

    def slot(self, name: str) -> int:
        """Where the message or bullet of an id stands. Raises `NothingFound`."""
        for slot, item in enumerate(self._old, self._first):
            if item.id == name:
                return slot
        place = self._reader.place(name)
        if place is None:  # as the fence names a message of the backlog
            place = self._reader.place(name.removeprefix(f"{Source.LOG}:"))
        if place is None:
            message = f"There is no message {name!r} here; `pipimem search` gives the ids."
            if name.startswith(_ENTRIES):
                message = (
                    f"{name!r} is an entry, not a message; "
                    "`pipimem blame` says from which messages an entry came."
                )
            raise NothingFound(message)
        return place if place < self._first else len(self._old) + place


def update_search_cache(
    store: ChannelStore, vocabulary: Vocabulary, most: int | None = None
) -> None:
    """Update the cached index of a channel by `most` messages; skips small changes."""
    if store.caches.search_lag(vocabulary.stamp()) >= _WORTH_KEEPING:
        TranscriptSearch(store, vocabulary, most=most).keep()


def _cached(store: ChannelStore, stamp: str) -> tuple[TranscriptReader, TranscriptState | None]:
    """The cached index with its reader, or a reader from the start and `None`."""
    cached = store.caches.kept_search(stamp)
    if cached is not None:
        with suppress(ValueError):  # whole, and yet none of ours
            return cached[0], unpacked(cached[1])
    return TranscriptReader(store.transcript), None


def _archive_items(store: ChannelStore) -> tuple[Item, ...]:
    items = history_items(store.archive())
    return tuple(replace(item, id=item.id.replace("history:", "archive:", 1)) for item in items)
