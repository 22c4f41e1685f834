"""A message that its sender took back, where nothing was learnt from it: only the talk changes."""

from __future__ import annotations

from datetime import datetime

from pipimem.errors import JournalError
from pipimem.notes.operations import Author, Decision
from pipimem.runtime.forget_preview import is_learnt_from
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.cleaning import empty_message, without_what_was_read


def emptied(store: ChannelStore, message: str, now: datetime) -> bool:
    """Empties a message; `False` where something may be learnt from it, which is to be forgotten.

    A job that read the message before learns nothing from it: its decision is refused. Raises
    `NothingFound` for an id of no message, and `StoreError`.
    """
    try:
        if is_learnt_from(store, message):
            return False
    except JournalError:  # who knows
        return False
    empty_message(store.folder, store.transcript, message, store.key)
    taken_back = Decision("retract", Author.PERSON)
    store.commit(taken_back, now, "person", carry_out=without_what_was_read)
    return not is_learnt_from(store, message)  # a job may have been first
