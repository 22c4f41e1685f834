"""A window into what is learnt, what is over, and what happened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.operations import Trust
from pipimem.sidecar.contracts import Consolidate, Consolidated, Known, Learned, Over
from pipimem.sidecar.offline.closing import closes
from pipimem.sidecar.offline.cues import CHANGED, DONE
from pipimem.sidecar.offline.learning import Candidate, candidates, chosen
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.replacing import Statement, takes_the_place
from pipimem.sidecar.offline.sentences import Sentence, sentences
from pipimem.sidecar.offline.summarising import summarised
from pipimem.sidecar.offline.voice import third_person
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.similarity import COPY, alike, bigrams, same_numbers
from pipimem.text.words import Words

# Of the weight of its words, name and all, this much in one older text is nothing new.
_SAID = 0.8
_NUMBERS = re.compile(r"\d+")


def consolidated(task: Consolidate, words: Words) -> Consolidated:
    """The whole answer; the same window gives the same one."""
    seen = candidates(task.window, words, group=task.group)
    texts = [candidate.learned.text for candidate in seen]
    weights = Weights(words, [*(known.text for known in task.memory), *texts])
    people = frozenset(task.participants)
    newest = [
        candidate
        for place, candidate in enumerate(seen)
        if not any(_outdated(candidate.learned, later.learned, weights, people) for later in seen[place + 1 :])
    ]
    done = [s for s in sentences(task.window) if s.role == "user" and not s.question and found(DONE, s.text)]
    newest = _still_open(newest, done, weights, task.participants)
    learned = _replacing(_news(chosen(newest, task.window), task.memory, weights), task.memory, weights, people)
    replaced = frozenset(name for item in learned for name in item.replaces)
    title, history = summarised(task.window, words)
    return Consolidated(learned, _over(task, done, weights, replaced), title, history)


def _outdated(older: Learned, newer: Learned, weights: Weights, people: frozenset[str]) -> bool:
    return takes_the_place(Statement(newer.text, newer.kind), Statement(older.text, older.kind), weights, people)


def _replacing(
    learned: Sequence[Learned], memory: Sequence[Known], weights: Weights, people: frozenset[str]
) -> tuple[Learned, ...]:
    """The items with the entries they outdate, each entry at most once; what memory holds already is left out."""
    taken: set[str] = set()
    kept: list[Learned] = []
    for item in learned:
        if not item.explicit and _stands(item.text, memory):
            continue
        statement = Statement(item.text, item.kind)
        outdated = [
            known.id
            for known in memory
            if known.id not in taken
            and takes_the_place(statement, Statement(known.text, kind_of(known.section)), weights, people)
        ]
        taken.update(outdated)
        kept.append(replace(item, replaces=tuple(outdated)))
    return tuple(kept)


def _news(learned: Sequence[Learned], memory: Sequence[Known], weights: Weights) -> list[Learned]:
    """Without what one entry says already, in the same words or more of them; what somebody asked for stays."""
    told = [known.text for known in memory]
    kept: list[Learned] = []
    for item in learned:
        if item.explicit or not any(_covers(text, item.text, weights) for text in told):
            kept.append(item)
            told.append(item.text)
    return kept


def _covers(told: str, text: str, weights: Weights) -> bool:
    if not set(_NUMBERS.findall(text)) <= set(_NUMBERS.findall(told)) or found(CHANGED, text):
        return False
    words = weights.words
    if words.bag(told).negations != words.bag(text).negations:
        return False
    mine = weights.bag(text)
    return weights.total(mine & weights.bag(told)) >= _SAID * weights.total(mine)


def _stands(text: str, memory: Iterable[Known]) -> bool:
    pairs = bigrams(text)
    return any(same_numbers(text, known.text) and alike(pairs, bigrams(known.text)) >= COPY for known in memory)


def _over(task: Consolidate, done: Sequence[Sentence], weights: Weights, replaced: frozenset[str]) -> tuple[Over, ...]:
    """Promises that were kept: somebody says it is done, in the words of the promise."""
    return tuple(
        Over(known.id, third_person(by.text, by.speaker, attributed=task.group)[:120])
        for known in task.memory
        if kind_of(known.section) is Kind.OPEN_LOOP
        and known.trust is Trust.INFERRED
        and known.id not in replaced
        and (by := next((s for s in done if closes(s, known.text, weights, task.participants)), None))
    )


def _still_open(
    seen: Sequence[Candidate], done: Sequence[Sentence], weights: Weights, people: Sequence[str]
) -> list[Candidate]:
    """Without the promises that are kept before the window ends."""
    return [
        candidate
        for candidate in seen
        if candidate.learned.kind is not Kind.OPEN_LOOP
        or not any(s.place > candidate.place and closes(s, candidate.learned.text, weights, people) for s in done)
    ]
