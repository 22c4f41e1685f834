"""The idle jobs rehearsed: the same thoughts, and nothing of them committed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from pipimem.notes.applied import applied
from pipimem.notes.files import File
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Decision
from pipimem.runtime.thinking import Thinking
from pipimem.runtime.thoughts import Thoughts
from pipimem.store.commits.committing import Committed


@dataclass(slots=True)
class Rehearsal(Thoughts):
    """Thoughts about notes in memory: what one of them changes the next one sees, and the disk never.

    A model that is asked is asked for real, and its calls are in the usage ledger.
    """

    _notes: Notes | None = None
    _archived: str = ""

    @classmethod
    def of(cls, thoughts: Thoughts) -> Self:
        """The rehearsal of a channel's thoughts."""
        return cls(**{each.name: getattr(thoughts, each.name) for each in fields(Thinking)})

    async def notes(self) -> Notes:
        """The notes as they would stand by now."""
        if self._notes is None:
            self._notes = await Thinking.notes(self)
        return self._notes

    async def archive(self) -> Note:
        """The archive as it would stand by now."""
        standing = await Thinking.archive(self)
        return Note.read(File.ARCHIVE, standing.text + self._archived, self.store.key)

    async def commit(
        self,
        decision: Decision,
        actor: str = "",  # noqa: ARG002 - nobody signs a rehearsal
        seen: Notes | None = None,  # noqa: ARG002 - nor does it last
    ) -> Committed:
        """What would come of the decision."""
        notes = await self.notes()
        outcome = applied(notes, decision, self.clock.now())
        self._notes = notes.after(outcome)
        self._archived += outcome.archived
        return Committed(notes.ledger.sequence, outcome)
