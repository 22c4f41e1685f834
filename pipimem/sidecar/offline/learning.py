"""What of a conversation is worth keeping: sentences with a cue, told in the third person."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.sidecar.contracts import Learned
from pipimem.sidecar.offline import life
from pipimem.sidecar.offline.answering import answered
from pipimem.sidecar.offline.cues import (
    CONFIRMS,
    DISAGREES,
    Hit,
    Strength,
    hit,
    kinds,
    without_asking,
    without_label,
)
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.sentences import Sentence, sentences
from pipimem.sidecar.offline.voice import speaks_of_self, third_person
from pipimem.sidecar.offline.wording import clauses, core, dates_once, trimmed
from pipimem.text.dates import dated
from pipimem.text.han import HAN
from pipimem.text.similarity import COPY, SAID_AGAIN, alike, bigrams, same_numbers
from pipimem.text.words import Words

# Chinese says the same in half the characters.
_MOST_CHARS = 180
_MOST_CHARS_ZH = 100
# A sentence of fewer words holds nothing one could still understand next month.
_LEAST_WORDS = 2
# So many words in common, and the next sentence is about the same thing.
_SAME_MATTER = 2
# "Remember this, please": what should be remembered stands beside it.
_NOTHING_MORE, _NOTHING_MORE_ZH = 12, 4
# More than one entry to so many things people say is noise.
_MESSAGES_AN_ENTRY = 2
_REASON = (
    r"^(?:the )?(?:reason|because|since|that's (?:why|the whole reason)|otherwise)\b|^(?:原因|因为|理由|不然|否则|由于)"
)
VAGUE = re.compile(
    r"^(?:this|that|these|those|it|they|he|she|here|there)\b(?!\s+(?:turned out|group|channel|week))"
    r"|^[加换改删修好发贴]了[，,]"
    rf"|^(?:这个?|那个?|它|他|她|他们|她们|这些|那些|这样|这里|那里)(?![{HAN}]{{0,3}}(?:版|群|次|周|月|年))"
    r"|^(?:reminds|makes|gives|helps|means|feels|sounds|looks|seems|keeps|brings|have to|hope)\b"
    r"|^.{1,12}[：:]\s*(?:(?:it|this|that|they)\b|[这那它他她])",
    re.IGNORECASE,
)
POINTS_ELSEWHERE = r"\b(?:it|them|those|these(?! \w+s\b)|this one|that one|him)\b|\b(?:this|that) (?:after|for|when|to|in|at|on|last|yesterday|lately|again|now)\b|\b(?:been|be|am|'m) one\b|\b(?:on|with|about|of|at) (?:for|since|lately)\b|[这那]个(?![月周])|它们?|[这那][样里部次些本首座段篇]"
_NOT_ALONE = re.compile(
    r"\b(?:it|them|that|this|there|few|some)$|(?:这个|那个|这样|那样|这些|它|时候?|^.{0,12}一样)$", re.IGNORECASE
)
# What the bot puts into words and a person confirms; the rest it may have made up.
_CONFIRMABLE = (Kind.DECISION, Kind.CONSTRAINT, Kind.LESSON)
# What does most harm when it is forgotten comes first where room is short.
_WORTH = {
    Kind.DECISION: 0.8,
    Kind.LESSON: 0.8,
    Kind.CONSTRAINT: 0.6,
    Kind.IDENTITY: 0.6,
    Kind.PREFERENCE: 0.5,
    Kind.OPEN_LOOP: 0.4,
}
_HARMFUL = r"\ballerg|\bintoleran|\bmedication\b|过敏|不耐受|忌口|药"
_SURE = {Strength.ASKED: ("high", 0.95), Strength.CLEAR: ("high", 0.88), Strength.FAINT: ("medium", 0.9)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be learnt, and how much it asks for it."""

    learned: Learned
    score: float
    place: int


def candidates(window: Sequence[Message], words: Words, *, group: bool) -> list[Candidate]:
    """All that shows a cue, in the order it was said."""
    said = sentences(window)
    replies = {told.id: reply for told, reply in pairwise(window) if told.role == "assistant" and reply.role == "user"}
    seen: list[Candidate] = []
    said = [part for sentence in said for part in _parted(sentence)]
    for place, sentence in enumerate(said):
        if sentence.role == "user" and not sentence.question:
            got = _candidate(said, place, words, group=group)
        elif sentence.role == "assistant" and (reply := _yes(replies.get(sentence.sources[0]))):
            got = _echoed(sentence, reply, words, group=group)
        else:
            got = None
        if got:
            seen.append(got)
    return sorted([*seen, *_of_answers(said, words)], key=lambda candidate: candidate.place)


def _of_answers(said: Sequence[Sentence], words: Words) -> list[Candidate]:
    """What only question and answer together say."""
    cue = Hit(Kind.FACT, Strength.CLEAR, 0)
    whole = [replace(got.answer, text=got.text, sources=got.sources) for got in answered(said)]
    return [built for told in whole if (built := _built(told, cue, words, group=False))]


def _parted(sentence: Sentence) -> list[Sentence]:
    """A promise and the rule behind it, said in one breath, are two things to remember."""
    sure = kinds(sentence.text)
    promise, rule = sure.get(Kind.OPEN_LOOP), sure.get(Kind.CONSTRAINT)
    if promise is None or rule is None:
        return [sentence]
    cut = max((at for at, _ in clauses(sentence.text) if at <= rule), default=0)
    if cut <= promise or Kind.OPEN_LOOP not in kinds(sentence.text[:cut]):
        return [sentence]
    return [replace(sentence, text=trimmed(part)) for part in (sentence.text[:cut], sentence.text[cut:])]


def chosen(seen: Sequence[Candidate], window: Sequence[Message]) -> list[Learned]:
    """The best of them within the noise budget, without repetitions; the newer of two is kept."""
    people = sum(message.role == "user" for message in window)
    room = -(-people // _MESSAGES_AN_ENTRY)
    kept: list[Candidate] = []
    for candidate in sorted(seen, key=lambda c: (not c.learned.explicit, -c.score, c.place)):
        if any(_repeats(candidate.learned, other.learned) for other in kept):
            continue
        room -= not candidate.learned.explicit
        if room >= 0 or _is_binding(candidate.learned):
            kept.append(candidate)
    return [candidate.learned for candidate in sorted(kept, key=lambda c: c.place)]


def _is_binding(learned: Learned) -> bool:
    """What somebody asked for, ruled or decided is never noise, however much of it there is."""
    return learned.explicit or (learned.kind in (Kind.CONSTRAINT, Kind.DECISION) and learned.necessity == "high")


def _repeats(one: Learned, other: Learned) -> bool:
    """Whether two say the same; what somebody asked for goes only for its very twin."""
    if not same_numbers(one.text, other.text):
        return False
    return alike(bigrams(one.text), bigrams(other.text)) >= (COPY if one.explicit else SAID_AGAIN)


def _candidate(said: list[Sentence], place: int, words: Words, *, group: bool) -> Candidate | None:
    sentence = said[place]
    fits = _hit_behind_name(sentence)
    if fits is not None and fits.life:
        return _of_life(sentence, words, group=group)
    if fits is None or (fits.strength is Strength.FAINT and found(POINTS_ELSEWHERE, sentence.text)):
        return None
    if fits.strength is Strength.ASKED and _asks_no_more(sentence):
        return _asked_for_neighbour(said, place, words, group=group)
    return _built(_with_reason(said, place, words), fits, words, group=group)


def _of_life(sentence: Sentence, words: Words, *, group: bool) -> Candidate | None:
    """What somebody tells of themselves, without the clauses around it that thank or speak to somebody."""
    text = life.alone(sentence.text)
    while VAGUE.search(text) and len(parts := clauses(text)) > 1:
        text = trimmed(text[parts[1][0] :])
    fits = hit(text)
    if fits is None or _points_elsewhere(text, fits.start):
        return None
    return _built(replace(sentence, text=text), fits, words, group=group)


def _points_elsewhere(text: str, at: int) -> bool:
    """Whether the clause at a place, or one before it, speaks of something that only the talk before would name."""
    return any(found(POINTS_ELSEWHERE, part) for start, part in clauses(text) if start <= at)


def _hit_behind_name(sentence: Sentence) -> Hit | None:
    """The cue of a sentence; "我是林晓" alone says no more than the name that stands over every message."""
    name = re.escape(sentence.speaker or "\0")
    intro = re.match(
        rf"(?:我(?:的名字)?(?:是|叫)?|I['’]m |I am |My name is |This is ){name}(?:[，,]\s*|$)", sentence.text
    )
    offset = intro.end() if intro else 0
    fits = hit(sentence.text[offset:])
    return replace(fits, start=fits.start + offset) if fits else None


def _asks_no_more(sentence: Sentence) -> bool:
    return len(without_asking(sentence.text)) <= (_NOTHING_MORE_ZH if sentence.chinese else _NOTHING_MORE)


def _asked_for_neighbour(said: list[Sentence], place: int, words: Words, *, group: bool) -> Candidate | None:
    """ "Remember this." alone means what stands beside it in the same message: behind a colon, else before."""
    own = said[place]
    for beside in (place - 1, place + 1):
        if 0 <= beside < len(said) and said[beside].sources == own.sources and not said[beside].question:
            near = said[beside]
            fits = hit(near.text) or Hit(Kind.PREFERENCE, Strength.ASKED, 0)
            return _built(near, replace(fits, strength=Strength.ASKED), words, group=group)
    return None


def _with_reason(said: list[Sentence], place: int, words: Words) -> Sentence:
    """The sentence, with the next one where that gives its reason."""
    sentence = said[place]
    after = said[place + 1] if place + 1 < len(said) else None
    if after is None or after.sources != sentence.sources:
        return sentence
    # Who disagrees and goes on about "I" says why.
    if not found(_REASON, after.text) and not _explains(sentence, after, words):
        return sentence
    return replace(sentence, text=f"{sentence.text}{'，' if sentence.chinese else '; '}{after.text}")


def _explains(sentence: Sentence, after: Sentence, words: Words) -> bool:
    """Who disagrees and goes on about "I" says why, as does who tells what once came of breaking the rule."""
    if found(DISAGREES, sentence.text):
        return speaks_of_self(after.text)
    rule = Kind.CONSTRAINT in kinds(sentence.text) and hit(after.text) is None
    return rule and len(set(words.words(sentence.text)) & set(words.words(after.text))) >= _SAME_MATTER


def _built(sentence: Sentence, fits: Hit, words: Words, *, group: bool) -> Candidate | None:
    text = _told(sentence, fits.start, group=group)
    if not text or "「…」" in text or not _says_something(text, words, sentence.speaker):
        return None
    bare = text.removeprefix(sentence.speaker).lstrip("：: ")
    if fits.strength < Strength.ASKED and (VAGUE.search(bare) or _NOT_ALONE.search(bare)):
        return None
    strength = fits.strength
    necessity, confidence = _SURE[strength]
    learned = Learned(
        kind=fits.kind,
        text=text,
        sources=sentence.sources,
        speaker=sentence.speaker,
        necessity=necessity,
        confidence=confidence,
        explicit=strength is Strength.ASKED,
    )
    return Candidate(learned, strength * 2 + _WORTH.get(fits.kind, 0.0) + _worth(text), sentence.place)


def _told(sentence: Sentence, at: int, *, group: bool) -> str:
    limit = _MOST_CHARS_ZH if sentence.chinese else _MOST_CHARS
    text = trimmed(without_label(core(sentence.text, at, limit)))
    if not text:
        return ""
    if sentence.when is not None:
        text = dates_once(dated(text, sentence.when))
    named = group or speaks_of_self(text)
    told = third_person(text, sentence.speaker, attributed=group) if named else text
    return told[:1].upper() + told[1:] if re.match(r"[a-z]+(?:\s|$|['’:,-])", told) else told


def _says_something(text: str, words: Words, speaker: str) -> bool:
    return len(set(words.words(text)) - set(words.words(speaker))) >= _LEAST_WORDS


def _worth(text: str) -> float:
    """Numbers, names and titles make a statement worth more than one without."""
    exact = len(re.findall(r"\d+|《[^》]+》|「[^」]+」|\"[^\"]+\"|[\w.-]+/[\w./-]+|\b[A-Z][A-Za-z]*[A-Z]\w*", text))
    return min(exact, 3) * 0.3 + (2.0 if found(_HARMFUL, text) else 0.0)


def _yes(reply: Message | None) -> Message | None:
    """The reply, if it says yes to what the bot just said."""
    if reply is None or "?" in reply.content or "？" in reply.content:
        return None
    return reply if found(CONFIRMS, re.sub(r"^@\S+\s*", "", reply.content.strip())) else None


def _echoed(own: Sentence, reply: Message, words: Words, *, group: bool) -> Candidate | None:
    """What the bot said and a person confirmed: theirs now, if it is a sure thing."""
    fits = hit(own.text)
    if own.question or fits is None or fits.kind not in _CONFIRMABLE or fits.strength < Strength.CLEAR:
        return None
    if speaks_of_self(own.text):
        return None
    heard = replace(own, speaker=reply.speaker, sources=(*own.sources, reply.id), role="user")
    return _built(heard, replace(fits, strength=Strength.CLEAR), words, group=group)
