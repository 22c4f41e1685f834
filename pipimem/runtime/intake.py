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

    Secrets, `<private>` stretches and blocks that memory itself injected go; what remains is timed.
    A stretch that a person opened runs on over their messages until they close it, or the session
    ends.
    """

    _private: PrivateFilter = field(default_factory=PrivateFilter)

    def cleaned(self, messages: Iterable[Message], now: datetime) -> list[Message]:
        """The messages as they may be stored; one that is only an injected block is dropped."""
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

    def cleaned_text(self, text: str, speaker: str) -> str:
        """What would be kept of a person's message, without taking it in."""
        return _content(Message.user(text, speaker=speaker), self._private)[0]

    def end_session(self) -> None:
        """Nobody's stretch runs into the next session."""
        self._private = PrivateFilter()


def named(name: str) -> str:
    """A name without secrets and private stretches; platforms allow anything in names."""
    return redacted(without_private(name))


def unknown_messages(messages: Sequence[Message], logged: Iterable[Message]) -> list[Message]:
    """The messages of the host that the transcript lacks, by id, or by text without an id.

    Without an id equal texts are counted, so a "yes" said twice is written twice, and written once
    more is not.
    """
    ids: set[str] = set()
    texts: Counter[tuple[str, str]] = Counter()
    for message in logged:
        ids.add(message.id)
        texts[message.role, message.content] += 1
    missing = []
    private = _speakers_opened_before(messages)
    for message in messages:
        # The whole context is read in order: what stands inside a stretch looks private only from
        # its beginning on.
        content, private = _content(message, private)
        known = message.id in ids if message.id else texts[message.role, content] > 0
        if not known:
            missing.append(replace(message, content=content))
        elif not message.id:
            texts[message.role, content] -= 1
    return missing


def _speakers_opened_before(messages: Sequence[Message]) -> PrivateFilter:
    """The speakers whose private stretch is closed here but was opened in a dropped message."""
    private, early = PrivateFilter(), set()
    for message in messages:
        if message.role == "user":
            if message.speaker not in private.open and closes_an_earlier(message.content):
                early.add(message.speaker)
            private = private.filtered(message.speaker, message.content)[1]
    return PrivateFilter(frozenset(early))


def _content(message: Message, private: PrivateFilter) -> tuple[str, PrivateFilter]:
    """The text to store of a message. Only users' private stretches run over messages."""
    if message.role == "user":
        text, private = private.filtered(message.speaker, message.content)
    else:
        text = without_private(message.content)
    return redacted(unfenced(text)), private
