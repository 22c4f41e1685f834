"""The files and messages of a channel as they are stored, with all that they hide."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import NoneType

from pipimem.errors import require_count, require_one_of, require_type
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.threads import run_in_thread


@dataclass(slots=True, eq=False)
class StoredFiles:
    """The files of one conversation, and its messages."""

    _access: ChannelAccess

    def path(self, file: File) -> Path:
        """Where a file is on disk, or will be."""
        require_one_of(file, File, "file")
        return self._access.folder / file

    async def text(self, file: File) -> str:
        """A file as it is on disk, with all that it hides; empty where there is none."""
        require_one_of(file, File, "file")
        return await run_in_thread(self._access.text, File(file))

    async def messages(
        self, count: int | None = None, *, session: str | None = None
    ) -> tuple[Message, ...]:
        """The newest `count` messages as they are stored, or all, oldest first; of a `session`.

        They have all that they hide, and a forgotten one has no text.
        """
        if count is not None:
            require_count(count, "count")
        require_type(session, (str, NoneType), "session", "For all of them it is None.")
        return await run_in_thread(self._stored, count, session)

    def _stored(self, count: int | None, session: str | None) -> tuple[Message, ...]:
        messages = self._access.store.transcript.messages()
        if session is not None:
            messages = (message for message in messages if message.session == session)
        return tuple(messages if count is None else deque(messages, maxlen=count))
