"""Which channels' indexes are kept at hand: the last ones asked, within a bound."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

# Entries in all indexes together. An entry with its text, words and places takes 5 KB (measured
# over 1,000 channels of 100), so this is 160 MB; a bot with 300 channels of 100 entries never reads
# one twice.
MOST_ENTRIES = 30_000


class Unloadable(Protocol):
    """Something that holds an index, and can let it go."""

    def size(self) -> int:
        """How many entries it holds now."""

    def unload(self) -> None:
        """Let go of what can be read again."""


class IndexLru:
    """The indexes of a process, the one asked last at the end."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._sizes: OrderedDict[int, tuple[Unloadable, int]] = OrderedDict()
        self._total = 0

    def touch(self, one: Unloadable) -> None:
        """Mark `one` as used last; the least recently used are unloaded while all are too large."""
        with self._lock:
            self._forget(one)
            size = one.size()
            self._sizes[id(one)] = one, size
            self._total += size
            unloaded: list[Unloadable] = []
            while self._total > self._most and len(self._sizes) > 1:
                oldest, _ = next(iter(self._sizes.values()))
                self._forget(oldest)
                unloaded.append(oldest)
        for each in unloaded:
            each.unload()

    def remove(self, one: Unloadable) -> None:
        """Counts one no more that was unloaded by somebody else."""
        with self._lock:
            self._forget(one)

    def _forget(self, one: Unloadable) -> None:
        _, size = self._sizes.pop(id(one), (one, 0))
        self._total -= size
