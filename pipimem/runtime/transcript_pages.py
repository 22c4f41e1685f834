"""The transcript of one channel, page by page: a long one is never read whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from anyio import to_thread

from pipimem.errors import require_count
from pipimem.notes.message import Message, Role
from pipimem.recall.transcript.hits import Filters
from pipimem.store.channel import ChannelStore

# So many messages are read at once, and for one page of some of them: half a second at most.
_READ_AT_ONCE = 500
_MOST_READ = 20_000


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

    async def page(
        self,
        upto: int | None = None,
        *,
        count: int = 100,
        speaker: str = "",
        role: Role | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> TranscriptPage:
        """The `count` messages up to a number, that one included; the newest without it.

        Or those of a `speaker`, in a `role`, from `after` on and before `before` among them: such a
        page looks through 20,000 messages at most, may be empty, and has no `later`.
        """
        require_count(count, "count")
        if upto is not None:
            require_count(upto, "upto")
        filters = Filters(after, before, speaker, role or "")
        return await to_thread.run_sync(self._page, upto, count, filters)

    def _page(self, upto: int | None, count: int, filters: Filters) -> TranscriptPage:
        transcript = self._store.transcript
        newest = transcript.last_number
        last = newest if upto is None else min(upto, newest)
        if filters != Filters():
            return self._filtered(last, count, filters)
        after = max(0, last - count)
        messages = tuple(map(self._masked, transcript.window(after, last)))
        earlier = after if after > 0 else None
        later = min(last + count, newest) if last < newest else None
        return TranscriptPage(messages, earlier, later)

    def _filtered(self, last: int, count: int, filters: Filters) -> TranscriptPage:
        found: list[Message] = []
        end = last
        while end > 0 and len(found) < count and last - end < _MOST_READ:
            after = max(0, end - _READ_AT_ONCE)
            window = self._store.transcript.window(after, end)
            found = [*filter(filters.admits_message, window), *found]
            end = after
        if len(found) > count:
            found = found[-count:]
            end = found[0].number - 1
        return TranscriptPage(tuple(map(self._masked, found)), end or None, None)

    def _masked(self, message: Message) -> Message:
        return replace(
            message, content=self._shown(message.content), speaker=self._shown(message.speaker)
        )


@dataclass(slots=True, eq=False, repr=False)
class OpenTranscript(TranscriptPages):
    """A `TranscriptPages` as the runtime makes it."""
