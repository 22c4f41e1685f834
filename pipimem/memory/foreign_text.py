"""What of a window nobody of the channel said, and whether an entry is made of it.

That is what is cited, forwarded, code or hidden in a message, a file's name, and a tool's output.
It becomes a person's where they ask to keep it, agree to it, or say it in their own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pipimem.notes.message import Message
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import (
    accepts,
    asks_to_keep,
    disguised,
    injection_kind,
    is_encoded,
    plain,
)
from pipimem.text.talk.sentences import split

# So begins the note of a change on each entry.
NOBODY_SAID = "out of text that nobody in the talk said"
# Stretches are compared of so many bytes: three characters of Chinese, nine of English.
_STRETCH = 9
# So much of an entry makes it one out of foreign text. Its wording is a model's: of "Alice prefers
# Zentro and wants it recommended" 0.38 stand in the page that says "the user prefers Zentro".
_TAKEN = 0.3


class ForeignText(Struct, frozen=True):
    """The stretches of foreign text that no person said, by whether its readers see it."""

    shown: frozenset[bytes]
    hidden: frozenset[bytes]

    def makes(self, text: str, *, hidden_only: bool = False) -> bool:
        """Whether so much of a text comes out of it that the text says what nobody said."""
        said = stretches(text)
        foreign = self.hidden if hidden_only else self.shown | self.hidden
        return bool(said) and len(said & foreign) >= _TAKEN * len(said)


def foreign_text(messages: Sequence[Message]) -> ForeignText:
    """What of the messages nobody said."""
    own, shown, hidden = set[bytes](), set[bytes](), set[bytes]()
    for message in messages:
        own |= stretches(message.speaker)
        if message.role == "tool":
            shown |= stretches(message.content)
        elif message.role == "user":
            said = taken_apart(message.content)
            if not is_encoded(said.own):
                own |= stretches(said.own)
            for part in said.foreign:  # plain too: a file's name has no spaces
                shown |= stretches(part) | stretches(plain(part))
            for part in (*said.hidden, *disguised(said.own)):
                hidden |= stretches(part)
    for words in accepted_words(messages):
        own |= stretches(words)
    return ForeignText(frozenset(shown - own), frozenset(hidden - own))


def accepted_words(messages: Sequence[Message]) -> Iterator[str]:
    """What others wrote and people made their own; no attack is among it.

    They ask to keep what they cite or forward, answer with a yes below what they cite, or agree to
    what the bot said just before.
    """
    before: Message | None = None
    for message in messages:
        if message.role == "user":
            yield from _accepted_parts(message.content)
            is_answer = before is not None and before.role == "assistant"
            if before and is_answer and accepts(taken_apart(message.content).own):
                yield from (part for part in split(before.content) if not injection_kind(part))
        before = message


def _accepted_parts(text: str) -> Iterator[str]:
    said = taken_apart(text)
    is_reply = text.lstrip().startswith((">", "＞"))
    if asks_to_keep(said.own) or (is_reply and accepts(said.own)):
        yield from (part for part in said.foreign if not injection_kind(part))


def stretches(text: str) -> frozenset[bytes]:
    """All stretches of a text, without white space and case; of a shorter text itself."""
    folded = "".join(text.split()).casefold().encode("utf-8", "replace")
    last = max(1, len(folded) - _STRETCH + 1)
    return frozenset(folded[start : start + _STRETCH] for start in range(last)) - {b""}
