"""Why an entry is kept as somebody's words only, as its record says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.ledger import Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust


class QuoteReason(StrEnum):
    """Why a text is a quote.

    It reads like an `INSTRUCTION` to the bot, says how the bot is to treat others (`CONDUCT`), or
    binds others while `ONE_MEMBER` of a group, or a `NEWCOMER` to it, alone says so. `LOST` is that
    of an entry whose record is gone: nobody knows who said it.
    """

    INSTRUCTION = "instruction"
    CONDUCT = "conduct"
    ONE_MEMBER = "one member"
    NEWCOMER = "newcomer"
    LOST = "lost"


# What becomes a rule once another member agrees.
AWAITING = (QuoteReason.ONE_MEMBER, QuoteReason.NEWCOMER)


def awaits_second_voice(record: Record, heading: Kind | None) -> bool:
    """Whether an entry under the heading of a kind is a quote until another member agrees.

    Records of earlier versions do not say why: there it is one under a heading of what binds.
    """
    if record.trust is not Trust.QUOTED:
        return False
    if record.quote_reason:
        return record.quote_reason in AWAITING
    return heading in STANDING


def awaiting(entries: Iterable[Entry], notes: Notes) -> Iterator[tuple[Entry, Record]]:
    """Those of the entries that are quotes until another member agrees, with their records."""
    for entry in entries:
        record = notes.record(entry.id)
        if entry.bullet and record and awaits_second_voice(record, kind_of(entry.section)):
            yield entry, record


def why_awaiting(record: Record) -> str:
    """Who alone said what awaits a second voice, and on which day, as far as that is known."""
    who = "a newcomer" if record.quote_reason == QuoteReason.NEWCOMER else "one member"
    known = ", ".join(filter(None, (record.speaker, record.when[:10])))
    return f"{who} alone said it ({known})" if known else f"{who} alone said it"
