"""A window into what is kept of it, what it ends, and what happened: all of it quotes."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.message import Message
from pipimem.notes.operations import Bullet, Trust
from pipimem.sidecar.contracts import Consolidate, Consolidated, Known, Learned, Over, is_exchange
from pipimem.sidecar.offline.changes import Claim, claim_of, ends, is_done
from pipimem.sidecar.offline.choosing import ASKED, Choice, bounded, choices, weighed
from pipimem.sidecar.offline.patterns import matches
from pipimem.sidecar.offline.sentences import Sentence, sentences
from pipimem.text.similarity import same_thought
from pipimem.text.words import Words

# The rules are sure that it was said; whether it is worth keeping is what the weight says.
_SURE, _UNSURE, _CLEAR = ("high", 0.9), ("medium", 0.9), 2.8
# A line of history for so many messages, as many as a block has room for.
_MESSAGES_A_BULLET, _MOST_BULLETS = 4, 8
# History tells what came about before what holds.
_CAME_ABOUT = 1.5
_HOLDS = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.IDENTITY)
_LAST_WORDS = 80


def consolidated(task: Consolidate, words: Words) -> Consolidated:
    """The whole answer; the same window gives the same one."""
    said = sentences(task.window)
    people = sum(message.role == "user" for message in task.window)
    chosen = choices(said, words)
    newest = [
        one for place, one in enumerate(chosen) if not _ended(one, chosen[place + 1 :], said, words)
    ]
    kept = bounded(newest, people, words)
    learned = _learned(kept, task.memory, words)
    replaced = {name for item in learned for name in item.replaces}
    over = tuple(one for one in _over(task.memory, said, words) if one.id not in replaced)
    return Consolidated(learned, over, "", _history(chosen, task.window, said, words))


def _ended(choice: Choice, later: Sequence[Choice], said: Sequence[Sentence], words: Words) -> bool:
    """Whether the window itself has a newer word on it: another value, or that it is done."""
    mine = choice.claim
    if any(ends(other.claim, mine, words) for other in later):
        return True
    after = [sentence for sentence in said if sentence.place > choice.sentence.place]
    return choice.kind is Kind.OPEN_LOOP and any(
        _closes(sentence, mine, words) for sentence in after
    )


def _closes(sentence: Sentence, promise: Claim, words: Words) -> bool:
    if sentence.role != "user" or sentence.question:
        return False
    return is_done(Claim(sentence.text, sentence.speaker, None), promise, words)


def _learned(kept: Sequence[Choice], memory: Sequence[Known], words: Words) -> tuple[Learned, ...]:
    """What memory does not say yet, each with the entries that it ends; no entry is ended twice."""
    taken: set[str] = set()
    learned: list[Learned] = []
    for choice in kept:
        quote = choice.quote
        if not choice.sentence.asked and any(same_thought(quote, known.text) for known in memory):
            continue
        left = [
            (known.id, claim_of(known.text, kind_of(known.section)))
            for known in memory
            if known.id not in taken
        ]
        over = [name for name, claim in left if ends(choice.claim, claim, words)]
        taken.update(over)
        necessity, confidence = _SURE if choice.weight >= _CLEAR else _UNSURE
        told = choice.sentence
        item = Learned(
            choice.kind,
            quote,
            told.sources,
            told.speaker,
            necessity,
            confidence,
            told.asked,
            tuple(over),
        )
        learned.append(item)
    return tuple(learned)


def _over(memory: Sequence[Known], said: Sequence[Sentence], words: Words) -> tuple[Over, ...]:
    """Promises that were kept: whoever promised says that it is done."""
    over: list[Over] = []
    for known in memory:
        if kind_of(known.section) is not Kind.OPEN_LOOP or known.trust is not Trust.INFERRED:
            continue
        promise = claim_of(known.text, Kind.OPEN_LOOP)
        if by := next((sentence for sentence in said if _closes(sentence, promise, words)), None):
            over.append(Over(known.id, by.quote()[:_LAST_WORDS]))
    return tuple(over)


def _history(
    chosen: Sequence[Choice], window: Sequence[Message], said: Sequence[Sentence], words: Words
) -> tuple[Bullet, ...]:
    """The weightiest quotes, what came about first; where none weighs anything, the last that a person said."""
    people = sum(message.role == "user" for message in window)
    room = min(_MOST_BULLETS, max(1, -(-people // _MESSAGES_A_BULLET)))
    kept = sorted(chosen, key=lambda choice: (-_as_event(choice), choice.sentence.place))[:room]
    kept.sort(key=lambda choice: choice.sentence.place)
    told = (
        Bullet(one.quote, one.sentence.sources, max(1, round(_as_event(one) * 10))) for one in kept
    )
    return tuple(told) or _anything(window, said, words)


def _as_event(choice: Choice) -> float:
    weight = choice.weight - (ASKED if choice.sentence.asked else 0.0)
    if choice.kind in (Kind.DECISION, Kind.LESSON) or matches(
        "changes", "done", choice.sentence.text
    ):
        return weight + _CAME_ABOUT
    return weight - _CAME_ABOUT if choice.kind in _HOLDS else weight


def _anything(
    window: Sequence[Message], said: Sequence[Sentence], words: Words
) -> tuple[Bullet, ...]:
    """Of an exchange in which nothing is worth keeping, the weightiest sentence of a person whatever it is."""
    if not is_exchange(window):
        return ()
    own = [sentence for sentence in said if sentence.role == "user"]
    if not own:
        last = next(message for message in reversed(window) if message.role == "user")
        text = " ".join(last.content.split())[:_LAST_WORDS]
        own = [Sentence(text, (last.id,), last.speaker, "user", last.time, 0)]
    best = max(
        own, key=lambda one: (choice.weight if (choice := weighed(one, words)) else -9.0, one.place)
    )
    return (Bullet(best.quote(), best.sources, 1),)
