"""`recall.json`: how the recall of a channel did, added up over processes; without any of its texts, and disposable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipimem.errors import StoreError
from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import read_whole
from pipimem.store.disk.files import put_whole

NAME = "recall.json"
# The waits of so many turns are kept: enough for a 95th percentile, 3 KB.
LATEST = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """So many turns, looks into the cache and hits in it; `waits` are the latest turns' milliseconds."""

    turns: int = 0
    looks: int = 0
    hits: int = 0
    waits: tuple[float, ...] = ()

    def and_then(self, later: Kept) -> Kept:
        """Both together."""
        waits = (*self.waits, *later.waits)[-LATEST:]
        return Kept(
            self.turns + later.turns, self.looks + later.looks, self.hits + later.hits, waits
        )

    def wait(self, share: float) -> float | None:
        """The milliseconds that this share of the turns waited at most; None where none was counted."""
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def load(folder: Path) -> Kept:
    """What was kept; nothing where there is no file, or a damaged one."""
    try:
        return decoded(Kept, jsonlines.value(read_whole(folder / NAME)))
    except (OSError, StoreError, CodecError):
        return Kept()


def add(folder: Path, later: Kept) -> None:
    """Keep more on top of what there is. The caller holds the lock."""
    kept = load(folder).and_then(later)
    put_whole(folder / NAME, jsonlines.line(encoded(kept)), synced=False)
