"""The agenda of a channel: what is due when, and who is to do it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from pipimem.memory.agenda import agenda
from pipimem.notes.kinds import File
from pipimem.runtime.conflict_list import shown_entry
from pipimem.runtime.note_view import ListedEntry, listing
from pipimem.runtime.threads import run_in_thread

if TYPE_CHECKING:
    from pipimem.runtime.channel_access import ChannelAccess


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """An open loop: the day it is due, `None` for no day, and who is to do it, as far as known."""

    entry: ListedEntry
    due: date | None
    person: str
    is_overdue: bool
    is_today: bool


@dataclass(slots=True, eq=False)
class AgendaList:
    """The open loops of one conversation's MEMORY.md."""

    _access: ChannelAccess

    async def agenda(self) -> tuple[AgendaItem, ...]:
        """Return the open loops by day and person, without secrets.

        Overdue ones come first, those without a day last.
        """
        return await run_in_thread(self._agenda)

    def _agenda(self) -> tuple[AgendaItem, ...]:
        notes, now = self._access.notes(), self._access.clock.now()
        today, shown = now.date(), self._access.shown
        listed = listing(notes, File.MEMORY, now)
        return tuple(
            AgendaItem(
                shown_entry(listed(loop.entry), shown),
                loop.due,
                shown(loop.person),
                is_overdue=loop.due is not None and loop.due < today,
                is_today=loop.due == today,
            )
            for loop in agenda(notes)
        )
