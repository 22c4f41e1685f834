"""The newcomers of a channel, from its transcript: read once, later only what was added."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock

from pipimem.memory.newcomers import SpeakingDays
from pipimem.notes.message import Message
from pipimem.store.disk.appended_files import KnownParts
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import parsed


@dataclass(slots=True)
class Members:
    """Who spoke on which days; after a forgetting, which rewrites the files, it reads anew."""

    _days: SpeakingDays = field(default_factory=SpeakingDays)
    _read: KnownParts = field(default_factory=KnownParts)
    # Idle work and a compaction may ask at once.
    _lock: Lock = field(default_factory=Lock)

    def newcomers(self, transcript: Transcript, messages: Iterable[Message]) -> frozenset[str]:
        """The ids of the messages whose speakers were newcomers on the day they were said."""
        with self._lock:
            self._catch_up(transcript)
            return self._days.newcomers(messages)

    def _catch_up(self, transcript: Transcript) -> None:
        parts = transcript.parts()
        if not self._read.still_stand(parts):
            self._days, self._read = SpeakingDays(), KnownParts()
        for _, _, data in self._read.fresh(parts):
            message = parsed(data)
            if message:
                self._days.add(message)
