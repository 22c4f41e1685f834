"""Rules that a newcomer to a group, or one member, alone says: quotes, until another agrees.

What binds others is a constraint, by its kind or by its words, and a preference or a role that
tells somebody what to do; what begins with its speaker ("I never work on Fridays") does not. It has
a second voice where another member says part of it too or agrees below it, and where somebody's own
words ask to keep it. A newcomer's voice is no second one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from msgspec import Struct, field

from pipimem.memory.bot_conduct import is_group
from pipimem.memory.foreign_text import stretches
from pipimem.notes.entry import Entry
from pipimem.notes.kinds import STANDING, Kind
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Confirm, Target, Trust
from pipimem.notes.quote_reason import QuoteReason, awaiting
from pipimem.sidecar.tasks import Learned
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import agrees, asks_to_keep, is_order
from pipimem.text.quotes import begins_with_itself, words_said
from pipimem.text.talk.personal import names_health
from pipimem.text.talk.sentence_rules import first_section, without_quotes

# In its first two weeks a group gathers: whoever speaks by then was there from the beginning.
_GATHERING = timedelta(days=14)
# Somebody who wants to plant a rule comes back for it less often than somebody who belongs there.
_DAYS_OF_TALK = 3
# An earlier time is that of a clock or a platform that has none.
_FIRST_YEAR = 2000


class SpeakingDays(Struct):
    """The day a group began, and the first three days on which each of its people spoke."""

    began: date | None = None
    _days: dict[str, tuple[date, ...]] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        """Counts a message of a named person; of one that was emptied nothing is known."""
        if message.role != "user" or not message.time or not message.content:
            return
        day = message.time.date()
        if day.year < _FIRST_YEAR:
            return
        self.began = min(self.began or day, day)
        days = self._days.get(message.speaker, ())
        if message.speaker and day not in days:
            self._days[message.speaker] = tuple(sorted((*days, day)))[:_DAYS_OF_TALK]

    def newcomers(self, messages: Iterable[Message]) -> frozenset[str]:
        """The ids of the messages whose speakers were newcomers on the day they were said."""
        return frozenset(one.id for one in messages if self._is_of_newcomer(one))

    def _is_of_newcomer(self, message: Message) -> bool:
        days = self._days.get(message.speaker) if message.role == "user" else None
        if not days or not self.began or not message.time:
            return False
        if days[0] - self.began <= _GATHERING:
            return False
        before = [day for day in days if day < message.time.date()]
        return len(before) < _DAYS_OF_TALK


# So begins the note of a change on each of them.
ALONE = {
    QuoteReason.ONE_MEMBER: "binds others, and one member alone says so: kept as a quote",
    QuoteReason.NEWCOMER: "binds others, and a newcomer alone says so: kept as a quote",
}
# A message in which so much of a text stands says it; a chance word is less.
_SAID_SHARE = 0.15
# A text of which so much stands in a rule restates the rule.
_RESTATED_SHARE = 0.5
# The section of SESSION.md that comes with every turn, and the one for what is going on.
_BINDING, _STATE = "Constraints", "Current State"
# Kinds under which a model may file what tells somebody what to do.
_MAY_ORDER = (*STANDING, Kind.FACT)
_QUESTION = ("?", "？")


class OneVoice(Struct, frozen=True):
    """Who said what in a group, by the ids of its people's messages; nothing of other talk.

    `agreed` are the messages that another member agrees to, or that somebody asks to keep. Only
    what `newcomers` (ids of messages) say needs that; with `None` what any one member says.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, frozenset[bytes]] = field(default_factory=dict)
    agreed: frozenset[str] = frozenset()
    newcomers: frozenset[str] | None = None

    @property
    def quote_reason(self) -> QuoteReason:
        """Why what is said by one voice is a quote."""
        return QuoteReason.ONE_MEMBER if self.newcomers is None else QuoteReason.NEWCOMER

    def binding(self, learned: Iterable[Learned]) -> frozenset[int]:
        """The places of the items that bind others and rest on one member alone.

        So does what tells such an item again, whatever its kind.
        """
        items = list(learned)
        if not self.speakers:
            return frozenset()
        alone = [place for place, item in enumerate(items) if self._is_alone(item)]
        found = {place for place in alone if _binds(items[place])}
        rules = [stretches(words_said(items[place].text)) for place in found]
        for place in alone:
            told = stretches(words_said(items[place].text))
            if any(_share(told, rule) >= _RESTATED_SHARE for rule in rules):
                found.add(place)
        return frozenset(found)

    def without_rules_of_one(
        self, sheet: Mapping[str, tuple[str, ...]]
    ) -> Mapping[str, tuple[str, ...]]:
        """A sheet whose constraints that one member alone said are no more than its state."""
        rules = sheet.get(_BINDING, ())
        alone = [text for text in rules if self._tells_one(text)]
        if not alone:
            return sheet
        state = dict.fromkeys((*sheet.get(_STATE, ()), *alone))
        return {
            **sheet,
            _BINDING: tuple(text for text in rules if text not in alone),
            _STATE: tuple(state),
        }

    def _is_alone(self, item: Learned) -> bool:
        """Whether the messages an item names are one member's, or only one member's say it."""
        sources = [name for name in item.sources if name in self.speakers]
        told = self._who_says(item.text, sources, _SAID_SHARE)
        if not told:  # a model may name messages of others than those who said it
            told = self._who_says(item.text, self.speakers, _RESTATED_SHARE)
        return self.agreed.isdisjoint(told) and self._is_one_voice(told or sources)

    def _tells_one(self, text: str) -> bool:
        """Whether most of a text, which names no messages, was said by one member alone."""
        told = self._who_says(text, self.speakers, _RESTATED_SHARE)
        return self.agreed.isdisjoint(told) and self._is_one_voice(told)

    def _is_one_voice(self, names: Collection[str]) -> bool:
        """Whether messages, if any, are of one member, or of nobody but newcomers."""
        if self.newcomers is not None:
            return bool(names) and self.newcomers.issuperset(names)
        return len({self.speakers[name] for name in names}) == 1

    def _who_says(self, text: str, names: Collection[str], least: float) -> list[str]:
        """The messages in which so much of a text stands."""
        words = stretches(words_said(text))
        return [name for name in names if _share(words, self.said[name]) >= least]


def one_voice(
    messages: Sequence[Message],
    known: Iterable[str] = (),
    newcomers: frozenset[str] | None = None,
) -> OneVoice:
    """Who said what; `known` are people who spoke before, `newcomers` as in `OneVoice`.

    Empty where no newcomer speaks, or, if nobody alone sets a rule, where one person speaks.
    """
    if newcomers is not None and newcomers.isdisjoint(one.id for one in messages):
        return OneVoice()
    if newcomers is None and not is_group(messages, known):
        return OneVoice()
    own = _own_words(messages)
    people = [one for one in own if one.role == "user"]
    return OneVoice(
        {one.id: one.speaker for one in people},
        {one.id: stretches(one.content) for one in people},
        frozenset(_agreed(own, newcomers)),
        newcomers,
    )


def _own_words(messages: Iterable[Message]) -> list[Message]:
    """The messages, those of people without what they quoted or forwarded."""
    return [
        replace(one, content=taken_apart(one.content).own) if one.role == "user" else one
        for one in messages
    ]


def agreed_quotes(
    messages: Sequence[Message], notes: Notes, newcomers: frozenset[str] | None = None
) -> list[Confirm]:
    """The operations by which quotes become rules that somebody agrees to by now."""
    quotes = lone_quotes(notes.memory.entries, notes)
    agreed = frozenset(_agreed(_own_words(messages), newcomers)) if quotes else frozenset()
    found: list[Confirm] = []
    for target in quotes:
        record = notes.record(target.id)
        if record and not agreed.isdisjoint(record.sources):
            found.append(Confirm(target, trust=Trust.INFERRED))
    return found


def seconded_by(item: Learned, speaker: str, same: Iterable[Entry], notes: Notes) -> list[Target]:
    """The quotes among the entries that say the same to which an item is the second voice.

    What one member alone says is none to their own words; what a newcomer says is none at all.
    """
    if not item.quote_reason:
        return lone_quotes(same, notes)
    if item.quote_reason == QuoteReason.ONE_MEMBER:
        return lone_quotes(same, notes, but_of=speaker)
    return []


def lone_quotes(entries: Iterable[Entry], notes: Notes, *, but_of: str = "") -> list[Target]:
    """Those of the entries that are quotes for want of a second voice, but for one speaker's."""
    found = awaiting(entries, notes)
    return [entry.target for entry, record in found if not but_of or record.speaker != but_of]


def _agreed(own: Sequence[Message], newcomers: frozenset[str] | None) -> Iterator[str]:
    """The ids of messages that are asked to be kept, or agreed to by the next who speaks.

    Whatever a newcomer asks or agrees to counts for nothing.
    """
    for place, message in enumerate(own):
        if message.role != "user" or message.id in (newcomers or ()):
            continue
        if asks_to_keep(message.content):
            yield message.id
        if agrees(message.content):
            yield from _answered(own[:place], message.speaker)


def _answered(before: Sequence[Message], speaker: str) -> Iterator[str]:
    """The messages of the last other member, if no question of the bot stands behind them."""
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


def _binds(item: Learned) -> bool:
    """Whether an item would bind others, or the bot, by its kind or by its words."""
    said = words_said(item.text)
    if names_health(said):  # an allergy is never less than certain
        return False
    if item.kind is Kind.CONSTRAINT:
        return True
    if begins_with_itself(said, item.speaker):
        return False
    if first_section("worth", without_quotes(said)) == Kind.CONSTRAINT:
        return True
    return item.kind in _MAY_ORDER and is_order(said)


def _share(part: frozenset[bytes], whole: frozenset[bytes]) -> float:
    return len(part & whole) / len(part) if part else 0.0
