"""Rules for others that one member of a group alone says: quotes, until another member agrees.

Only where the settings ask for two voices. A rule is a constraint, or another durable text that
orders something and does not begin with its speaker ("I never work on Fridays").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from pipimem.notes.entry import Entry
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.ledger import AWAITING
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Confirm, Target, Trust
from pipimem.sidecar.tasks import Learned
from pipimem.text.foreign_parts import own_words
from pipimem.text.injection import agrees, has_voice
from pipimem.text.quotes import begins_with_itself, words_said
from pipimem.text.words.similarity import share_in, stretches

# A message in which so much of a text is says it; a chance word is less.
_SAID_SHARE = 0.15
# So much of a text is in a message that says all of it.
_WHOLE_SHARE = 0.5
# Kinds under which a model may file what orders something.
_MAY_ORDER = (*STANDING, Kind.WISH, Kind.FACT)
_QUESTION = ("?", "？")


class Voices(Struct, frozen=True):
    """Who said what in a group, by the ids of its people's messages.

    `agreed` are the ids of messages that another member agrees to.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    agreed: frozenset[str] = frozenset()

    def is_one_voice(self, text: str, sources: Collection[str]) -> bool:
        """Return whether one member alone says a text, and nobody agrees."""
        known = [name for name in sources if name in self.speakers]
        told = self._who_says(text, known, _SAID_SHARE)
        if not told:  # a model may name messages of others than those who said it
            told = self._who_says(text, self.speakers, _WHOLE_SHARE)
        speakers = {self.speakers[name] for name in told or known}
        return len(speakers) == 1 and self.agreed.isdisjoint(told or known)

    def _who_says(self, text: str, names: Iterable[str], least: float) -> list[str]:
        words = stretches(words_said(text))
        return [name for name in names if share_in(words, self.said[name]) >= least]


NO_VOICES = Voices()
"""The voices where one member may set a rule: nothing is one voice."""


def voices(messages: Sequence[Message]) -> Voices:
    """Return who said what in their own words."""
    people = [one for one in messages if one.role == "user"]
    return Voices(
        {one.id: one.speaker for one in people},
        {one.id: stretches(own_words(one.content)) for one in people},
        frozenset(agreed_messages(messages)),
    )


def binds(kind: Kind, text: str, speaker: str) -> bool:
    """Return whether a text would bind others, or the bot, by its kind or by its words."""
    if kind is Kind.CONSTRAINT:
        return True
    said = words_said(text)
    if kind not in _MAY_ORDER or begins_with_itself(said, speaker):
        return False
    return has_voice("order", said)


def agreed_messages(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the ids of messages that the next member who speaks agrees to."""
    for index, message in enumerate(messages):
        if message.role == "user" and agrees(own_words(message.content)):
            yield from _answered(messages[:index], message.speaker)


def _answered(before: Sequence[Message], speaker: str) -> Iterator[str]:
    """Yield the messages of the last other member, unless the bot asks something after them."""
    other = ""
    for message in reversed(before):
        if message.role == "assistant" and not other:
            if message.content.rstrip().endswith(_QUESTION):
                return
        elif message.role == "user":
            if message.speaker == speaker and not other:
                continue
            if other not in ("", message.speaker):
                return
            other = message.speaker
            yield message.id


def agreed_quotes(messages: Sequence[Message], notes: Notes) -> list[Confirm]:
    """Return the operations by which quotes become rules that another member agrees to by now."""
    waiting = list(notes.awaiting(notes.memory.entries))
    agreed = frozenset(agreed_messages(messages)) if waiting else frozenset()
    return [
        Confirm(entry.target, trust=Trust.INFERRED)
        for entry, record in waiting
        if not agreed.isdisjoint(record.sources)
    ]


def seconded_by(item: Learned, speaker: str, same: Iterable[Entry], notes: Notes) -> list[Target]:
    """Return the quotes among entries that say the same to which an item is the second voice.

    Their own speaker is none, as long as the item is one member's word, too.
    """
    if item.quote_reason and item.quote_reason not in AWAITING:
        return []
    return [
        entry.target
        for entry, record in notes.awaiting(same)
        if not item.quote_reason or record.speaker != speaker
    ]
