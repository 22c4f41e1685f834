"""Intake: what may be written of a message that comes in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.text.fence import unfenced
from pipimem.text.private import PrivateFilter, closes_an_earlier, without_private
from pipimem.text.secrets import redacted


@dataclass(slots=True)
class Intake:
    """The door every message passes before it reaches the disk.

    Secrets, `<private>` stretches and blocks that memory itself injected go; what remains is timed. A stretch that a
    person opened runs on over their messages until they close it, or the session ends.
    """

    _private: PrivateFilter = field(default_factory=PrivateFilter)

    def cleaned(self, messages: Iterable[Message], now: datetime) -> list[Message]:
        """The messages as the transcript may keep them; one that is nothing but an injected block is dropped."""
        found = []
        for message in messages:
            content, self._private = _content(message, self._private)
            if content or not message.content:
                speaker, session = named(message.speaker), named(message.session)
                time = message.time or now
                found.append(
                    replace(message, content=content, speaker=speaker, session=session, time=time)
                )
        return found

    def kept(self, text: str, speaker: str) -> str:
        """What would be kept of a person's message, without taking it in."""
        return _content(Message.user(text, speaker=speaker), self._private)[0]

    def end_session(self) -> None:
        """Nobody's stretch runs into the next session."""
        self._private = PrivateFilter()


def named(name: str) -> str:
    """A name as it may be written: platforms let people call themselves, and their rooms, anything."""
    return redacted(without_private(name))


def unseen(messages: Sequence[Message], logged: Iterable[Message]) -> list[Message]:
    """The messages a host holds that the transcript lacks: by id where they have one, else by what they say.

    Without an id equal texts are counted, so a "yes" said twice is written twice, and written once more is not.
    """
    ids: set[str] = set()
    texts: Counter[tuple[str, str]] = Counter()
    for message in logged:
        ids.add(message.id)
        texts[message.role, message.content] += 1
    missing = []
    private = _opened_before(messages)
    for message in messages:
        # The whole context is read in order: what stands inside a stretch looks private only from its beginning on.
        content, private = _content(message, private)
        known = message.id in ids if message.id else texts[message.role, content] > 0
        if not known:
            missing.append(replace(message, content=content))
        elif not message.id:
            texts[message.role, content] -= 1
    return missing


def _opened_before(messages: Sequence[Message]) -> PrivateFilter:
    """Who must have opened a stretch in what the host has dropped already, for here it is only closed."""
    private, early = PrivateFilter(), set()
    for message in messages:
        if message.role == "user":
            if message.speaker not in private.open and closes_an_earlier(message.content):
                early.add(message.speaker)
            private = private.filtered(message.speaker, message.content)[1]
    return PrivateFilter(frozenset(early))


def _content(message: Message, private: PrivateFilter) -> tuple[str, PrivateFilter]:
    """What may be kept of a message. Only people open stretches that run on: a bot may explain the tag."""
    if message.role == "user":
        text, private = private.filtered(message.speaker, message.content)
    else:
        text = without_private(message.content)
    return redacted(unfenced(text)), private
