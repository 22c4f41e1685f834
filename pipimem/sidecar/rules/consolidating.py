"""Turns a window of messages into entries, ended entries and history bullets, all quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time

from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules.changes import ends
from pipimem.sidecar.rules.choosing import ASKED, Choice, bounded, choices, weight_of
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import claim_of, stated, statements
from pipimem.sidecar.rules.promises import is_done
from pipimem.sidecar.rules.superseded import with_changes, with_older, without_ended
from pipimem.sidecar.tasks import (
    Consolidate,
    Consolidated,
    HistoryItem,
    KnownEntry,
    Learned,
    Outdated,
    is_exchange,
)
from pipimem.text.quotes import day_of, words_said
from pipimem.text.talk.context import is_taken_up, linked_to, own_words
from pipimem.text.talk.sentence_rules import matches
from pipimem.text.talk.sentences import Sentence
from pipimem.text.words.index_words import Words
from pipimem.text.words.similarity import SimilarTexts

# A line of history for so many messages, as many as a block has room for.
_MESSAGES_A_BULLET, _MOST_BULLETS = 4, 8
# History tells events before what holds for long.
_EVENT = 1.5
_EVENTS = (Kind.DECISION, Kind.LESSON)
_LASTING = (Kind.WISH, Kind.HEALTH, Kind.CONSTRAINT, Kind.PREFERENCE, Kind.IDENTITY)
_LAST_WORDS = 80


def consolidated(task: Consolidate, words: Words) -> Consolidated:
    """The whole answer; the same window gives the same one."""
    linked, gone = linked_to(task.before, task.window)
    new = {message.id for message in task.window}
    said = [one for one in linked if not new.isdisjoint(one.sources)]
    people = sum(message.role == "user" for message in task.window)
    chosen = [one for one in choices(linked, words) if not new.isdisjoint(one.sentence.sources)]
    open_ones = [choice for choice in chosen if not choice.sentence.closed]
    open_ones = with_changes(open_ones, said, words)
    ours = [known for known in task.memory if known.trust is Trust.INFERRED]
    open_ones = [one for one in with_older(open_ones, words) if one.weight]
    standing = without_ended(open_ones, said, words)
    kept = _kept(_with_known(standing, ours, words), people, new)
    taken_up = [known for known in ours if is_taken_up(known.text, gone)]
    learned = _learned(kept, task.memory, taken_up, words)
    over = [Outdated(known.id, "corrected or done") for known in taken_up]
    over += _outdated(task.memory, said, words)
    replaced = {name for item in learned for name in item.replaces}
    ended = {one.id: one for one in over if one.id not in replaced}
    history = _history(with_older(chosen, words, ended=True), task.window, said, words)
    return Consolidated(learned, tuple(ended.values()), "", history)


def _with_known(chosen: Sequence[Choice], ours: Sequence[KnownEntry], words: Words) -> list[Choice]:
    """The choices, those that change what memory says quoted together with it."""
    claims = [claim_of(entry.text, kind_of(entry.section)) for entry in ours]
    index = ClaimIndex(claims, words)
    ended = {
        place
        for one in chosen
        for place in index.may_end(one.claim.said)
        if ends(one.claim, claims[place], words)
    }
    known: list[Choice] = []
    for place, (entry, claim) in enumerate(zip(ours, claims, strict=True)):
        day = day_of(entry.text)
        if day and place not in ended:
            said = datetime.combine(day, time())
            sentence = Sentence(claim.said, (), claim.speaker, "user", said, -1)
            known.append(Choice(sentence, claim.kind or Kind.FACT, 0.0))
    return with_older(chosen, words, known=known)


def _kept(chosen: Sequence[Choice], people: int, new: set[str]) -> list[Choice]:
    """The weightiest choices, and all that correct or complete what was said before the window."""
    linked = [choice for choice in chosen if not new.issuperset(choice.sentence.sources)]
    return [*linked, *bounded([choice for choice in chosen if choice not in linked], people)]


def _learned(
    kept: Sequence[Choice],
    memory: Sequence[KnownEntry],
    taken_up: Sequence[KnownEntry],
    words: Words,
) -> tuple[Learned, ...]:
    """What memory does not say yet, each with the entries that it ends; no entry is ended twice."""
    taken: set[str] = set()
    learned: list[Learned] = []
    # Another member may say by now what waits for a second voice.
    standing = SimilarTexts(
        known.text for known in memory if known not in taken_up and not known.awaits_second_voice
    )
    claims = [claim_of(known.text, kind_of(known.section)) for known in memory]
    index = ClaimIndex(claims, words)
    for choice in kept:
        quote = choice.quote
        sentence = choice.sentence
        if not sentence.asked and standing.of(quote):
            continue
        ended = [known.id for known in taken_up if words_said(known.text) in sentence.text]
        near = index.may_end(sentence.text)
        ended += [memory[one].id for one in near if ends(choice.claim, claims[one], words)]
        replaces = tuple(name for name in dict.fromkeys(ended) if name not in taken)
        taken.update(replaces)
        item = Learned(
            choice.kind,
            quote,
            sentence.sources,
            sentence.speaker,
            explicit=sentence.asked,
            replaces=replaces,
        )
        learned.append(item)
    return tuple(learned)


def _outdated(
    memory: Sequence[KnownEntry], said: Sequence[Sentence], words: Words
) -> tuple[Outdated, ...]:
    """Promises that were kept, each with the first sentence that says so."""
    ours = [known for known in memory if known.trust is Trust.INFERRED]
    open_ones = [known for known in ours if kind_of(known.section) is Kind.OPEN_LOOP]
    promises = [claim_of(known.text, Kind.OPEN_LOOP) for known in open_ones]
    index = ClaimIndex(promises, words)
    over: dict[int, Outdated] = {}
    for one in statements(said):
        for place in index.may_end(one.text):
            if place not in over and is_done(stated(one), promises[place], words):
                over[place] = Outdated(open_ones[place].id, one.quote()[:_LAST_WORDS])
    return tuple(over.values())


def _history(
    chosen: Sequence[Choice], window: Sequence[Message], said: Sequence[Sentence], words: Words
) -> tuple[HistoryItem, ...]:
    """The weightiest quotes in their order; if there are none, one statement of an exchange."""
    people = sum(message.role == "user" for message in window)
    room = min(_MOST_BULLETS, max(1, -(-people // _MESSAGES_A_BULLET)))
    # A wish is no event, and stands with every turn of its speaker.
    events = [choice for choice in chosen if choice.kind is not Kind.WISH]
    kept = sorted(events, key=lambda choice: (-_as_event(choice), choice.sentence.place))[:room]
    kept.sort(key=lambda choice: choice.sentence.place)
    bullets = []
    for one in kept:
        weight = max(1, round(_as_event(one) * 10))
        bullets.append(HistoryItem(one.quote, one.sentence.sources, weight))
    return tuple(bullets) or _anything(window, said, words)


def _as_event(choice: Choice) -> float:
    """Its weight in history, where events count more than what holds for long."""
    weight = choice.weight
    if choice.sentence.asked:
        weight -= ASKED
    if choice.kind in _EVENTS or matches("changes", "done", choice.sentence.text):
        return weight + _EVENT
    if choice.kind in _LASTING:
        return weight - _EVENT
    return weight


def _anything(
    window: Sequence[Message], said: Sequence[Sentence], words: Words
) -> tuple[HistoryItem, ...]:
    """The weightiest statement of a person in an exchange, or a message without words ("👍").

    Nothing if there was no exchange, or if people only asked, or said what is not to be noted.
    """
    if not is_exchange(window):
        return ()
    own = own_words(window, said)
    if not own:
        return ()
    best = max(own, key=lambda one: (weight_of(one, words), one.place))
    return (HistoryItem(best.quote(), best.sources, 1),)
