"""Which idle jobs of a channel would run now, without running any."""

from __future__ import annotations

from datetime import datetime

from pipimem.memory import gates
from pipimem.memory.gates import Gate
from pipimem.memory.window import counted
from pipimem.store.channel import ChannelStore


def due(store: ChannelStore, now: datetime, *, forced: bool = False) -> dict[str, Gate]:
    """The gate of each job, `forced` as when a person asks. Reads the talk since the last refresh."""
    notes, last = store.notes(), store.transcript.last_number
    said = counted(list(store.transcript.window(notes.ledger.refreshed)))
    return gates.due(notes, last, said, now, forced=forced)
