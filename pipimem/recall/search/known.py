"""What an index knows of a transcript, as one value: to be written down, and to go on from."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipimem.recall.search.threads import Threads
from pipimem.recall.search.volume import NO_VOLUME, Volume


def _bytes() -> array[int]:
    return array("B")


@dataclass(frozen=True, slots=True)
class Known:
    """For each message, by its slot, who said it, how long it is and what it is like; the words, the threads, the days.

    `spoken_by` and `roles` are numbers of `speakers` and `role_names`; `days` go by the ordinal of the date.
    """

    speakers: Sequence[str] = ()
    role_names: Sequence[str] = ()
    spoken_by: array[int] = field(default_factory=lambda: array("i"))
    lengths: array[int] = field(default_factory=_bytes)
    shapes: array[int] = field(default_factory=_bytes)
    roles: array[int] = field(default_factory=_bytes)
    threads: Threads = field(default_factory=Threads)
    days: Mapping[int, array[int]] = field(default_factory=dict)
    volume: Volume = NO_VOLUME
