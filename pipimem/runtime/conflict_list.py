"""The entries of a channel that may contradict each other, listed for a person to settle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipimem.errors import PipimemError, require_type
from pipimem.memory.conflicts import Conflict, conflicts, settled
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import File
from pipimem.notes.operations import Change
from pipimem.runtime.note_view import ListedEntry, listing
from pipimem.runtime.threads import run_in_thread

if TYPE_CHECKING:
    from pipimem.runtime.channel_access import ChannelAccess

_ID_HINT = "Give the id of an entry, as `conflicts` has it."
# It is their word, whatever interface they use.
_PERSON = "person"


@dataclass(frozen=True, slots=True)
class ListedConflict:
    """Two entries of MEMORY.md that may contradict each other, the older first."""

    older: ListedEntry
    newer: ListedEntry


@dataclass(slots=True, eq=False)
class ConflictList:
    """The pairs of one conversation's MEMORY.md that nobody has settled."""

    _access: ChannelAccess

    async def conflicts(self) -> tuple[ListedConflict, ...]:
        """Return the pairs in the order of the file, without secrets."""
        return await run_in_thread(self._conflicts)

    def _conflicts(self) -> tuple[ListedConflict, ...]:
        notes, now = self._access.notes(), self._access.clock.now()
        listed = listing(notes, File.MEMORY, now)
        return tuple(self._listed(found, listed) for found in conflicts(notes))

    def _listed(self, found: Conflict, listed: Callable[[Entry], ListedEntry]) -> ListedConflict:
        return ListedConflict(
            shown_entry(listed(found.older), self._access.shown),
            shown_entry(listed(found.newer), self._access.shown),
        )

    async def settle(self, keep: str, other: str, *, both: bool = False) -> tuple[Change, ...]:
        """Keep the entry `keep` and take the other one out, or keep both of them for good.

        Returns what was changed. Raises `NothingFound` for an unknown id.
        """
        for name in (keep, other):
            require_type(name, str, "entry", _ID_HINT)
        require_type(both, bool, "both", "Say True or False.")
        notes = await self._access.read_notes()
        done = await self._access.commit(settled(notes, keep, other, both=both), _PERSON)
        if done.outcome.refused:
            raise PipimemError(f"Nothing was settled: {done.outcome.refused[0].reason}.")
        return done.outcome.changes


def shown_entry(entry: ListedEntry, shown: Callable[[str], str]) -> ListedEntry:
    """Return an entry with its text and names as they may be shown."""
    return replace(
        entry, text=shown(entry.text), section=shown(entry.section), speaker=shown(entry.speaker)
    )
