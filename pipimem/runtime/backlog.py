"""The talk that is not consolidated yet, and that recall shows all the same."""

from __future__ import annotations

from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.store.transcript.log import Transcript
from pipimem.text.talk.asking import off_the_record

# How much talk that is not consolidated yet is recallable: the newest messages before the current
# epoch, and of those that were set aside so many. They are older than all others, and would never
# have a turn in one bound.
_BACKLOG = 400
_SET_ASIDE = 100


def recallable_backlog(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """The messages before the current epoch that no entry was made of, oldest first.

    Without what its speakers ask not to note: no turn shows it.
    """
    spooled = transcript.spooled()
    messages = (*_set_aside(transcript, ledger), *_waiting(transcript, ledger), *spooled)
    hidden = off_the_record(messages)
    return tuple(message for message in messages if message.id not in hidden)


def backlog_chosen_by(transcript: Transcript, ledger: Ledger) -> tuple[object, ...]:
    """What the backlog depends on: equal values choose the same messages."""
    spooled = tuple(message.id for message in transcript.spooled())
    # With every forgetting there are new tombstones, and the messages may have been emptied.
    return ledger.cursor, ledger.epoch_start, ledger.holes, ledger.tombstones, spooled


def _waiting(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """Those behind the cursor."""
    cursor, end = ledger.cursor, ledger.epoch_start
    if cursor >= end:
        return ()
    return tuple(transcript.window(max(cursor, end - _BACKLOG), end))


def _set_aside(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """Those that no model could make sense of."""
    found: list[Message] = []
    for hole in reversed(ledger.holes):
        room, end = _SET_ASIDE - len(found), min(hole.last, ledger.epoch_start)
        if room > 0 and hole.first <= end:
            found = [*transcript.window(max(hole.first - 1, end - room), end), *found]
    return tuple(found)
