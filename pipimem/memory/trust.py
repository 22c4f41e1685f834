"""Trust: whether a learnt text is written, as somebody's words only, or not at all.

The verdict is reached once, for each learnt item, line of history, line of the sheet and title.
Refused is an attack, what is encoded or hidden, and what is made of text that nobody in the channel
said (cited, forwarded, copied, code, a file's name, a tool's output) and nobody asked to keep. The
bot's words are advice: nothing is compared with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from pipimem.memory.second_voice import NO_VOICES, Voices, binds, voices
from pipimem.notes.kinds import File
from pipimem.notes.ledger import QuoteReason
from pipimem.notes.message import Message, newest_time
from pipimem.notes.operations import LeftOut
from pipimem.sidecar.tasks import Consolidated, HistoryItem, Learned
from pipimem.text.foreign_parts import MessageParts, taken_apart
from pipimem.text.injection import (
    agrees,
    disguised,
    has_voice,
    injection_kind,
    is_encoded,
    plain,
)
from pipimem.text.quotes import words_said
from pipimem.text.secrets import redacted
from pipimem.text.talk.sentences import split
from pipimem.text.words.similarity import share_in, stretches

ATTACK = "reads like an instruction to the bot"
HIDDEN = "was hidden or encoded"
NOBODY_SAID = "out of text that nobody in the talk said"
# So much of a text makes it one out of foreign text. Its wording is a model's: of "Alice prefers
# Zentro and wants it recommended" 0.38 stand in the page that says "the user prefers Zentro".
_MADE_OF = 0.3
# An attack may be cut into so many neighbouring messages of one person.
_MOST_PIECES = 4
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", "…")
# The sections of SESSION.md for what binds, and for what is going on.
_BINDING, _STATE = "Constraints", "Current State"


class Keep(Struct, frozen=True):
    """The text is written as it is."""


class Quote(Struct, frozen=True):
    """The text is written as somebody's words, which bind nobody."""

    reason: QuoteReason


class Refuse(Struct, frozen=True):
    """The text is not written."""

    reason: str


class NoteLine(Struct, frozen=True):
    """A text of HISTORY.md or SESSION.md; one that `is_binding` comes with every turn."""

    text: str
    is_binding: bool = False


class JudgedTalk(Struct, frozen=True):
    """What of a window's talk may be learnt, as stretches of text.

    `attacks` has the kind of attack by the ids of messages, `hostile` what attacks say and nobody
    sees, `foreign` what nobody said, `cited` what somebody asks to keep of it. `people` are the ids
    of people's messages. `voices` is empty where one member may set a rule.
    """

    is_direct: bool
    attacks: Mapping[str, str]
    hostile: frozenset[bytes]
    foreign: frozenset[bytes]
    cited: frozenset[bytes]
    people: frozenset[str]
    voices: Voices = NO_VOICES


class Trusted(Struct, frozen=True):
    """What of an answer is written, notes on quotes and refusals without their words, the rest."""

    answer: Consolidated
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def trust(
    item: Learned | NoteLine, sources: Collection[str], channel: JudgedTalk
) -> Keep | Quote | Refuse:
    """Return the verdict on a text that rests on the messages with these ids."""
    refusal = _refusal(item, sources, channel)
    if refusal:
        return Refuse(refusal)
    reason = _quote_reason(item, sources, channel)
    return Quote(reason) if reason else Keep()


def _refusal(item: Learned | NoteLine, sources: Collection[str], channel: JudgedTalk) -> str:
    """Return why a text is not written, empty where it is."""
    kind = _attack_kind(item.text, sources, channel)
    if kind:
        return f"{ATTACK} ({kind})"
    if is_encoded(item.text):
        return HIDDEN
    is_account = isinstance(item, NoteLine) and not item.is_binding
    if is_account and not has_voice("order", words_said(item.text)):
        return ""
    return NOBODY_SAID if _is_made_of(item.text, channel.foreign) else ""


def _attack_kind(text: str, sources: Iterable[str], channel: JudgedTalk) -> str:
    """Return the kind of attack that a text is, rests on, or repeats; empty where none."""
    kinds = (channel.attacks[name] for name in sources if name in channel.attacks)
    kind = injection_kind(text) or next(kinds, "")
    if not kind and _is_made_of(text, channel.hostile):
        return "repeated"
    return kind


def _quote_reason(
    item: Learned | NoteLine, sources: Collection[str], channel: JudgedTalk
) -> QuoteReason | None:
    """Return why a text is only somebody's words, `None` where it is more."""
    if isinstance(item, NoteLine):
        is_rule = item.is_binding
    elif _is_made_of(item.text, channel.cited):
        return QuoteReason.CITED
    elif not channel.is_direct and sources and channel.people.isdisjoint(sources):
        return QuoteReason.BOT
    else:
        speaker = item.speaker or _find_author(sources, channel.voices)
        is_rule = binds(item.kind, item.text, speaker)
    if is_rule and channel.voices.is_one_voice(item.text, sources):
        return QuoteReason.ONE_MEMBER
    return None


def _find_author(sources: Iterable[str], voices: Voices) -> str:
    """Return who said the first of the sources that a member said; empty where unknown."""
    return next((voices.speakers[name] for name in sources if name in voices.speakers), "")


def _is_made_of(text: str, source: frozenset[bytes]) -> bool:
    """Return whether a text takes so much of a source that it repeats it."""
    said = stretches(words_said(text))
    return bool(said and source) and share_in(said, source) >= _MADE_OF


def channel_talk(
    messages: Sequence[Message],
    people: Iterable[str] = (),
    *,
    is_direct: bool = False,
    needs_second_voice: bool = False,
) -> JudgedTalk:
    """Return what of the messages may be learnt; `people` are those who spoke before."""
    parts = {one.id: taken_apart(one.content) for one in messages if one.role == "user"}
    own = [replace(one, content=parts[one.id].own) for one in messages if one.id in parts]
    attacks = _attacks(own)
    spoken, hostile = _own_stretches(own, attacks)
    for part in parts.values():
        hostile.update(*map(stretches, part.hidden))
    foreign, cited = set[bytes](), set[bytes]()
    for text, into in _foreign_texts(messages, parts, (foreign, cited, spoken)):
        hostile.update(*map(stretches, _attacking(text)))
        into |= stretches(text) | stretches(plain(text))
    is_voiced = needs_second_voice and is_group(messages, people)
    return JudgedTalk(
        is_direct,
        attacks,
        frozenset(hostile - spoken),
        frozenset(foreign - spoken - cited),
        frozenset(cited - spoken),
        frozenset(parts),
        voices(messages) if is_voiced else NO_VOICES,
    )


def _own_stretches(
    own: Iterable[Message], attacks: Collection[str]
) -> tuple[set[bytes], set[bytes]]:
    """Return the stretches of what people say, and of what is an attack or encoded in it."""
    spoken, hostile = set[bytes](), set[bytes]()
    for message in own:
        spoken |= stretches(message.speaker)
        is_clean = message.id not in attacks and not is_encoded(message.content)
        (spoken if is_clean else hostile).update(stretches(message.content))
        hostile.update(*map(stretches, disguised(message.content)))
    return spoken, hostile


def _foreign_texts(
    messages: Iterable[Message],
    parts: Mapping[str, MessageParts],
    into: tuple[set[bytes], set[bytes], set[bytes]],
) -> Iterator[tuple[str, set[bytes]]]:
    """Yield each text that nobody said, and whether it is foreign, cited or spoken, as its set.

    Somebody asks to keep it or, below what a platform cites, agrees to it.
    """
    foreign, cited, spoken = into
    for message in messages:
        if message.role == "tool":
            yield message.content, foreign
        if message.id not in parts:
            continue
        said, belongs = parts[message.id], foreign
        if has_voice("keep", said.own):
            belongs = cited
        elif message.content.lstrip().startswith((">", "＞")) and agrees(said.own):
            belongs = spoken
        for part in said.foreign:
            yield part, foreign if injection_kind(part) else belongs


def _attacks(own: Sequence[Message]) -> dict[str, str]:
    """Return the kind of attack by the ids of messages that are one, alone or with neighbours.

    The latter are of one speaker and end no sentence.
    """
    kinds = {one.id: injection_kind(one.content) for one in own}
    found = {name: kind for name, kind in kinds.items() if kind}
    pieces: dict[str, list[Message]] = {}
    for message in own:
        before = pieces.setdefault(message.speaker, [])
        before.append(message)
        if message.id not in found and len(before) > 1:
            found |= _split_attack(before)
        ends = message.content.rstrip().endswith(_SENTENCE_ENDS)
        pieces[message.speaker] = [] if ends or message.id in found else before[1 - _MOST_PIECES :]
    return found


def _split_attack(pieces: Sequence[Message]) -> dict[str, str]:
    """Return the kind of attack by id, of the fewest last messages that show one together."""
    for first in range(len(pieces) - 2, -1, -1):
        texts = [piece.content for piece in pieces[first:]]
        kind = injection_kind(" ".join(texts)) or injection_kind("".join(texts))
        if kind:
            return {piece.id: kind for piece in pieces[first:]}
    return {}


def _attacking(text: str) -> list[str]:
    """Return a foreign text that is an attack, else its sentences that address the bot."""
    if injection_kind(text):
        return [text]
    return [part for part in split(text) if has_voice("addressed", part)]


def is_group(messages: Iterable[Message], known: Iterable[str]) -> bool:
    """Return whether several people speak, of those of the messages and those `known` before."""
    people = {*known, *(one.speaker for one in messages if one.role == "user")} - {""}
    return len(people) > 1


def trusted(answer: Consolidated, messages: Sequence[Message], channel: JudgedTalk) -> Trusted:
    """Return an answer without what is refused, its quotes with their reason, and the rest."""
    by_id = {message.id: message for message in messages}
    learned, quotes, left_out = _trusted_facts(answer.learned, by_id, channel)
    history, of_history = _trusted_history(answer.history, by_id, channel)
    left_out += of_history
    is_titled = isinstance(trust(NoteLine(answer.title), (), channel), Keep)
    sheet, of_sheet = trusted_sheet(answer.sheet or {}, channel)
    kept = Consolidated(
        tuple(learned),
        answer.over,
        answer.title if is_titled else "",
        tuple(history),
        None if answer.sheet is None else sheet,
    )
    refused = (f"{one.reason}, {_learnt_from(one.sources)}" for one in left_out)
    return Trusted(kept, (*quotes, *refused), (*left_out, *of_sheet))


def _trusted_facts(
    items: Iterable[Learned], messages: Mapping[str, Message], channel: JudgedTalk
) -> tuple[list[Learned], list[str], list[LeftOut]]:
    """Return the facts without those that are refused, a note on each quote, and the refused."""
    kept: list[Learned] = []
    quotes: list[str] = []
    left_out: list[LeftOut] = []
    for item in items:
        shown = [name for name in item.sources if name in messages]
        verdict = trust(item, shown, channel)
        if isinstance(verdict, Refuse):
            left_out.append(_left_out(verdict.reason, item, messages))
            continue
        if isinstance(verdict, Quote):
            quotes.append(f"kept as a quote ({verdict.reason}), {_learnt_from(item.sources)}")
            item = structs.replace(item, quote_reason=verdict.reason)
        kept.append(item)
    return kept, quotes, left_out


def _trusted_history(
    bullets: Iterable[HistoryItem], messages: Mapping[str, Message], channel: JudgedTalk
) -> tuple[list[HistoryItem], list[LeftOut]]:
    """Return the lines of history without those that are refused, and these."""
    kept: list[HistoryItem] = []
    left_out: list[LeftOut] = []
    for bullet in bullets:
        verdict = trust(NoteLine(bullet.text), bullet.sources, channel)
        if isinstance(verdict, Refuse):
            left_out.append(_left_out(verdict.reason, bullet, messages))
        else:
            kept.append(bullet)
    return kept, left_out


def _learnt_from(sources: Iterable[str]) -> str:
    return f"learnt from {', '.join(sources)}"


def trusted_sheet(
    sheet: Mapping[str, Sequence[str]], channel: JudgedTalk
) -> tuple[Mapping[str, tuple[str, ...]], tuple[LeftOut, ...]]:
    """Return the lines of a sheet without those that are refused, and these.

    A constraint that one member alone says is no more than the state of things.
    """
    found: dict[str, tuple[str, ...]] = {}
    alone: list[str] = []
    left_out: list[LeftOut] = []
    for section, lines in sheet.items():
        kept: list[str] = []
        for text in lines:
            verdict = trust(NoteLine(text, section == _BINDING), (), channel)
            if isinstance(verdict, Refuse):
                left_out.append(LeftOut(verdict.reason, redacted(text), File.SESSION))
            else:
                (kept if isinstance(verdict, Keep) else alone).append(text)
        found[section] = tuple(kept)
    if alone:
        found[_STATE] = tuple(dict.fromkeys((*found.get(_STATE, ()), *alone)))
    return found, tuple(left_out)


def _left_out(reason: str, item: Learned | HistoryItem, messages: Mapping[str, Message]) -> LeftOut:
    """Return a refused item as what is listed; it holds no secret."""
    sources = [messages[name] for name in item.sources if name in messages]
    found = LeftOut(
        reason,
        redacted(item.text),
        File.HISTORY,
        sources=tuple(message.id for message in sources),
        newest=max((message.number for message in sources), default=0),
        when=newest_time(sources),
    )
    if isinstance(item, HistoryItem):
        return found
    author = next((one.speaker for one in sources if one.role == "user"), "")
    speaker = redacted(item.speaker or author)
    return structs.replace(found, file=File.MEMORY, kind=item.kind, speaker=speaker)
