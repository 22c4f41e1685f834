"""Takes out of an answer what would make an order to the bot a memory, whoever answered.

Refused is a text that reads like an attack, what rests on a message that does, also where it was
split over several messages, and what repeats an order out of text that nobody in the talk said
(cited, forwarded, code, a file's name, a tool's output), whatever message is given as its source.
An order of that kind in a person's own words ("from now on deploy on Tuesdays") stays. Of such text
no fact becomes an entry either.

In a direct chat, where one person speaks with the bot, the bot's own words are no such text, and
the person's wishes on the bot's conduct are wishes like others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from pipimem.memory.bot_conduct import KEPT_AS_QUOTE, BotConduct, Verdict, bot_conduct
from pipimem.memory.foreign_text import (
    NOBODY_SAID,
    ForeignText,
    accepted_words,
    foreign_text,
)
from pipimem.memory.one_voice import ALONE, OneVoice, one_voice
from pipimem.memory.split_attacks import split_attacks
from pipimem.notes.message import Message
from pipimem.notes.quote_reason import QuoteReason
from pipimem.sidecar.tasks import Consolidated
from pipimem.text.foreign_parts import taken_apart
from pipimem.text.injection import injection_kind, is_encoded, is_order
from pipimem.text.quotes import words_said
from pipimem.text.talk.sentences import split
from pipimem.text.words.similarity import bigrams, share_in

# So begins the note of a change on each of them.
REFUSED = "reads like an instruction to the bot"
# So much of a passage makes a text its repetition; so much of a text makes it one out of passages.
_REPEATED, _TAKEN = 0.6, 0.3
# A stretch that is no chance, in bytes: six characters of Chinese, eighteen of English.
_STRETCH = 18
# Shorter than this a passage is a word or two, which anybody may say.
_LEAST_PASSAGE = 8


class _Passage(Struct, frozen=True):
    """A text for comparing: its bigrams, and its bytes without white space."""

    grams: frozenset[str]
    folded: bytes

    @classmethod
    def of(cls, text: str) -> _Passage:
        folded = "".join(text.split()).casefold().encode("utf-8", "replace")
        return cls(bigrams(text), folded)

    def is_repeated_by(self, said: _Passage, own: _Passage) -> bool:
        """Whether most of it stands in a text, or a long stretch, and people did not say it."""
        if share_in(self.grams, said.grams) >= _REPEATED > share_in(self.grams, own.grams):
            return True
        for start in range(len(said.folded) - _STRETCH + 1):
            stretch = said.folded[start : start + _STRETCH]
            if stretch in self.folded and stretch not in own.folded:
                return True
        return False


class SuspectTalk(Struct, frozen=True):
    """What of a window is not to be learnt.

    `messages` has the ids of messages whose own words read like an attack, with its kind,
    `passages` each such text, and each order that nobody said; `own` are all other words of people.
    Of what is `foreign` no entry may be made; wishes on the bot's `conduct` (`None` in a direct
    chat) are quotes at most, and rules of one of the group's `voices` until another agrees.
    """

    messages: Mapping[str, str]
    passages: tuple[_Passage, ...]
    own: _Passage
    foreign: ForeignText
    conduct: BotConduct | None
    voices: OneVoice

    def why_refused(self, text: str, sources: Iterable[str] = ()) -> str:
        """Why a text may not be written that rests on messages; empty where it may."""
        kind = injection_kind(text)
        if kind:
            return kind
        if is_encoded(text):
            return "encoded"
        if self.foreign.makes(text, hidden_only=True):
            return "hidden"
        kinds = (self.messages[name] for name in sources if name in self.messages)
        if self.conduct_verdict(text) == "risky":
            return "conduct"
        return next(kinds, "") or self._why_taken(text)

    def why_not_noted(self, text: str, sources: Iterable[str] = ()) -> str:
        """Why a text may stand neither in SESSION.md nor in HISTORY.md; empty where it may."""
        return self.why_refused(text, sources) or self.conduct_verdict(text)

    def conduct_verdict(self, text: str, sources: Collection[str] = ()) -> Verdict:
        """Return the verdict on a text as a wish on the bot's conduct, `""` in a direct chat."""
        return self.conduct.verdict(text, sources) if self.conduct else ""

    def _why_taken(self, text: str) -> str:
        """`repeated` where a text is made of passages rather than of own words; else empty."""
        if not self.passages:
            return ""
        said = _Passage.of(words_said(text))
        repeats = (passage.is_repeated_by(said, self.own) for passage in self.passages)
        if any(repeats):
            return "repeated"
        grams = frozenset().union(*(passage.grams for passage in self.passages))
        share = share_in(said.grams, grams)
        is_taken = share >= _TAKEN and share > share_in(said.grams, self.own.grams)
        return "repeated" if is_taken else ""


def suspect_talk(
    messages: Sequence[Message],
    people: Iterable[str] = (),
    newcomers: frozenset[str] | None = frozenset(),
    *,
    is_direct: bool = False,
) -> SuspectTalk:
    """Return what of the messages is not to be learnt; `people` are those who spoke before.

    `newcomers` are the ids of messages whose speakers alone set no rule, as in `one_voice`. With
    `is_direct` the messages are of a direct chat.
    """
    people = tuple(people)
    accepted = tuple(accepted_words(messages))
    own, passages = _own_and_ordered(messages, accepted, is_direct=is_direct)
    suspect = _suspect(own)
    passages += [message.content for message in own if message.id in suspect]
    clean = [message.content for message in own if message.id not in suspect]
    found = [_Passage.of(one) for one in passages if len(one) >= _LEAST_PASSAGE]
    return SuspectTalk(
        suspect,
        tuple(found),
        _Passage.of(" ".join((*clean, *accepted))),
        foreign_text(messages),
        None if is_direct else bot_conduct(messages, people),
        one_voice(messages, people, newcomers),
    )


def _own_and_ordered(
    messages: Iterable[Message], accepted: Sequence[str], *, is_direct: bool
) -> tuple[list[Message], list[str]]:
    """People's messages in their own words, and each order that nobody said or accepted.

    The bot's advice to the one person of a direct chat is no order.
    """
    own: list[Message] = []
    orders: list[str] = []
    for message in messages:
        if is_direct and message.role == "assistant":
            continue
        if message.role != "user":
            orders += _orders_of_no_person(message, accepted)
            continue
        said = taken_apart(message.content)
        own.append(replace(message, content=said.own))
        for part in (*said.foreign, *said.hidden):
            if part not in accepted:
                orders += _orders(part)
    return own, orders


def _suspect(own: Sequence[Message]) -> dict[str, str]:
    """The kind of attack by the id of each message that is one, alone or with those beside it."""
    kinds = [(message.id, injection_kind(message.content)) for message in own]
    alone = {name: kind for name, kind in kinds if kind}
    return alone | split_attacks(own, alone)


def without_injections(
    answer: Consolidated,
    messages: Sequence[Message],
    people: Iterable[str] = (),
    newcomers: frozenset[str] | None = frozenset(),
    *,
    is_direct: bool = False,
) -> tuple[Consolidated, tuple[str, ...]]:
    """Return the answer without what is refused, and a note for each refusal; no words of it.

    `people`, `newcomers` and `is_direct` are those of `suspect_talk`.
    """
    talk = suspect_talk(messages, people, newcomers, is_direct=is_direct)
    notes: list[str] = []
    learned = []
    binding = talk.voices.binding(answer.learned)
    for place, item in enumerate(answer.learned):
        why = talk.why_refused(item.text, item.sources)
        sources = ", ".join(item.sources)
        if why:
            notes.append(f"{REFUSED} ({why}), said in {sources}")
        elif talk.foreign.makes(item.text):
            notes.append(f"{NOBODY_SAID}, learnt from {sources}")
        elif talk.conduct_verdict(item.text, item.sources):
            notes.append(f"{KEPT_AS_QUOTE}, said in {sources}")
            learned.append(structs.replace(item, quote_reason=QuoteReason.CONDUCT))
        elif place in binding:
            reason = talk.voices.quote_reason
            notes.append(f"{ALONE[reason]}, said in {sources}")
            learned.append(structs.replace(item, quote_reason=reason))
        else:
            learned.append(item)
    history = [one for one in answer.history if not talk.why_not_noted(one.text, one.sources)]
    title = "" if talk.why_not_noted(answer.title) else answer.title
    sheet = None if answer.sheet is None else _without(answer.sheet, talk)
    kept = Consolidated(tuple(learned), answer.over, title, tuple(history), sheet)
    return kept, tuple(notes)


def sheet_without_injections(
    sheet: Mapping[str, Sequence[str]],
    messages: Sequence[Message],
    people: Iterable[str] = (),
    newcomers: frozenset[str] | None = frozenset(),
    *,
    is_direct: bool = False,
) -> Mapping[str, tuple[str, ...]]:
    """Return the items of a sheet by section without those that are refused."""
    return _without(sheet, suspect_talk(messages, people, newcomers, is_direct=is_direct))


def _without(
    sheet: Mapping[str, Sequence[str]], talk: SuspectTalk
) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for section, items in sheet.items():
        found[section] = tuple(item for item in items if not talk.why_not_noted(item))
    return talk.voices.without_rules_of_one(found)


def _orders_of_no_person(message: Message, accepted: Sequence[str]) -> list[str]:
    """The orders of a tool's output or of the bot, but those that people accepted."""
    is_tool = message.role == "tool"
    found = _orders(message.content) if is_tool else _ordering_sentences(message.content)
    return [one for one in found if one not in accepted]


def _orders(part: str) -> list[str]:
    """The sentences of a foreign part that are orders; all of it where it reads like an attack."""
    return [part] if injection_kind(part) else _ordering_sentences(part)


def _ordering_sentences(text: str) -> list[str]:
    return [sentence for sentence in split(text) if is_order(sentence)]
