"""The transcript of one channel, page by page: a long one is never read whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from anyio import to_thread

from pipimem.errors import require_count
from pipimem.notes.message import Message
from pipimem.store.channel import ChannelStore


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """Messages in the order they were said, as they may be shown; a forgotten one has no text.

    `earlier` and `later` are what to ask for the pages beside it, `None` at the ends.
    """

    messages: tuple[Message, ...]
    earlier: int | None
    later: int | None


@dataclass(slots=True, init=False, eq=False, repr=False)
class TranscriptPages:
    """What was said in one channel, as `Channel.transcript` has it."""

    _store: ChannelStore
    # Masks secrets and private stretches.
    _shown: Callable[[str], str]

    async def page(self, upto: int | None = None, *, count: int = 100) -> TranscriptPage:
        """The `count` messages up to a number, that one included; the newest without it."""
        require_count(count, "count")
        if upto is not None:
            require_count(upto, "upto")
        return await to_thread.run_sync(self._page, upto, count)

    def _page(self, upto: int | None, count: int) -> TranscriptPage:
        transcript = self._store.transcript
        newest = transcript.last_number
        last = newest if upto is None else min(upto, newest)
        after = max(0, last - count)
        messages = tuple(map(self._masked, transcript.window(after, last)))
        earlier = after if after > 0 else None
        later = min(last + count, newest) if last < newest else None
        return TranscriptPage(messages, earlier, later)

    def _masked(self, message: Message) -> Message:
        return replace(
            message, content=self._shown(message.content), speaker=self._shown(message.speaker)
        )


@dataclass(slots=True, eq=False, repr=False)
class OpenTranscript(TranscriptPages):
    """A `TranscriptPages` as the runtime makes it."""
