"""What the parts of a channel share: its files, settings, clock and lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from pipimem.clock import Clock
from pipimem.notes.kinds import File
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Decision
from pipimem.observer import Observers
from pipimem.runtime.threads import ChannelLock, finish_in_thread, run_in_thread
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.commit.commit import Committed
from pipimem.store.disk.files import read_text
from pipimem.text.private import without_private
from pipimem.text.secrets import redacted

PERSON = "person"


def ignore() -> None:
    """Ignore a notice: nobody waits for it."""


@dataclass(slots=True, eq=False)
class ChannelAccess:
    """One channel's files, and how its parts work on them.

    `lock` orders those who append to the transcript, `forgetting` those who forget: they wait for
    commits, and a turn does not. `transcript_changed` is called when the transcript has grown or
    was rewritten, `forgotten` in a thread after a forgetting.
    """

    store: ChannelStore
    settings: Settings
    clock: Clock
    observers: Observers = field(default_factory=Observers)
    transcript_changed: Callable[[], None] = ignore
    forgotten: Callable[[], object] = ignore
    lock: ChannelLock = field(default_factory=ChannelLock)
    forgetting: ChannelLock = field(default_factory=ChannelLock)
    # When a text was forgotten, and what does it once more.
    repeatable: list[tuple[datetime, Callable[[], object]]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The platform's id of the conversation."""
        return self.store.channel_id

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.store.folder

    def text(self, file: File) -> str:
        """Return a file as it is on disk, empty where there is none."""
        return read_text(self.folder / file, self.store.workspace.root) or ""

    def notes(self) -> Notes:
        """Return the notes as they stand on disk now, with what was recalled since a commit."""
        return self.store.with_pending_recalls(self.store.notes())

    async def read_notes(self) -> Notes:
        """Return the notes as they stand on disk now; in a thread."""
        return await run_in_thread(self.notes)

    async def repeat_forgettings(self, since: datetime) -> None:
        """Forget anew what texts were forgotten since a turn began.

        The turn's own messages, which were stored later, say them again.
        """
        async with self.forgetting:
            for when, forgetting in self.repeatable:
                if when >= since:
                    await finish_in_thread(forgetting)
            # Only now: where one fails, after_turn called again for this turn does it.
            self.repeatable.clear()

    async def commit(self, decision: Decision, actor: str) -> Committed:
        """Make a decision last; a commit that has begun is not cancelled half way."""
        task, wall = decision.task, self.clock.wall()

        def committed() -> Committed:
            return self.store.commit(decision, self.clock.now(), actor, wall)

        with self.observers.of("commit", self.id, task=task) as operation:
            done = await finish_in_thread(committed)
            operation.records = len(done.outcome.changes)
        return done

    def masked(self, text: str) -> str:
        """Return a text without secrets, known or of the workspace's own list."""
        return redacted(text, own=self.settings.secrets)

    def shown(self, text: str) -> str:
        """Return a text as it may be shown: secrets and private stretches masked, line for line."""
        private = replace(self.settings.private, keep_lines=True)
        return self.masked(without_private(text, private))
