"""Older claims by their words and values: of many, the few that a newer statement may end."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.change_words import (
    changes_told,
    clauses_that_cancel,
    new_only_values,
    numbers_of_subject,
    only_values,
)
from pipimem.sidecar.rules.changes import OVERCOME, backs_out
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.clauses import (
    bare_values,
    clauses_of,
    dates_of,
    days_of,
    matter,
    names_of,
    numbers_of,
    says,
    signs_of,
    tokens_of,
    topic,
    values_left,
    values_of,
    without,
    words_denied,
)
from pipimem.sidecar.rules.patterns import first_match, rules
from pipimem.sidecar.rules.promises import is_outcome
from pipimem.text.words.index_words import Words
from pipimem.text.words.remembered import remembered

# How a statement stands in front of the one it is quoted with.
_QUOTES = re.compile(r"[“「」]|” ?| … ")
# Each statement is asked for its changes once for each other one.
_TEXTS_READ = 4096
# A word that more statements share is no topic of theirs.
_MOST_OF_A_TOPIC = 8
_PROMISE, _UNNUMBERED = ("a", "promise"), ("a promise without", "number")


class ClaimIndex:
    """Places of claims in the order in which they were added.

    Without it each statement of a window would be held against each other one.
    """

    def __init__(self, claims: Iterable[Claim], words: Words) -> None:
        self._words = words
        self._keys: list[frozenset[Hashable]] = []
        self._places: dict[Hashable, list[int]] = defaultdict(list)
        for claim in claims:
            self.add(claim)

    def add(self, claim: Claim) -> None:
        """Puts a claim behind the others."""
        keys = set(_keys_of(claim.said, self._words))
        if claim.kind is Kind.OPEN_LOOP:
            parts = clauses_of(claim.said, self._words)
            keys |= {_PROMISE} if all(map(numbers_of, parts)) else {_PROMISE, _UNNUMBERED}
        for key in keys:
            self._places[key].append(len(self._keys))
        self._keys.append(frozenset(keys))

    def may_end(self, said: str) -> list[int]:
        """The places of claims that a statement may end, change or say to be done."""
        needs = [*_needs_of(said, self._words), *_needs_of_outcome(said, self._words)]
        found = {place for need in needs for place in self._having(need)}
        if says("change", said):
            numbers = numbers_of_subject(said, self._words)
            for word in topic(clauses_of(said, self._words), self._words):
                places = self._places.get(word, ())
                if len(places) <= _MOST_OF_A_TOPIC:
                    found.update(place for place in places if numbers <= self._keys[place])
        return sorted(found)

    def _having(self, need: frozenset[Hashable]) -> Iterable[int]:
        rarest = min(need, key=lambda key: len(self._places.get(key, ())))
        return (place for place in self._places.get(rarest, ()) if need <= self._keys[place])


def _needs_of_outcome(said: str, words: Words) -> Iterable[frozenset[Hashable]]:
    """What a promise must hold for this to be its outcome: the same numbers, or none."""
    for clause in clauses_of(said, words):
        if is_outcome(clause):
            yield frozenset((_PROMISE, *numbers_of(clause)))
            yield frozenset((_PROMISE, _UNNUMBERED))


@remembered(_TEXTS_READ)
def _keys_of(said: str, words: Words) -> frozenset[Hashable]:
    """What a statement may be found by, once it is the older one: its words, values and names."""
    keys = set[Hashable]()
    for clause in clauses_of(said, words):
        about = matter(clause, words)
        keys |= about | signs_of(about) | values_of(clause)
        keys |= {("name", token) for token in tokens_of(clause)}
        keys.add(("forbids", says("forbids", clause)))
        for trouble, _ in OVERCOME:
            if says(trouble, clause):
                keys |= matter(without(trouble, clause), words)
    for text in {said, *clauses_of(said, words)}:
        keys.update(subject for subject, _ in only_values(text, words))
    keys.update(("day", day) for _, day in days_of(said))
    keys.update(("bare", value) for value in bare_values(said))
    return frozenset(keys)


@remembered(_TEXTS_READ)
def _needs_of(said: str, words: Words) -> tuple[frozenset[Hashable], ...]:
    """Sets of keys: what a statement ends or changes has all of at least one of them."""
    needs = [*_needs_of_end(said, words), *_needs_of_denial(said, words)]
    if says("change", said):
        needs += _needs_of_change(said, words)
    return tuple(need for need in needs if need)


def _needs_of_end(said: str, words: Words) -> list[frozenset[Hashable]]:
    """What was in trouble and is over, and what does not take place; any day it names as well."""
    needs: list[frozenset[Hashable]] = []
    clauses = clauses_of(said, words)
    for _, end in OVERCOME:
        over = [clause for clause in clauses if says(end, clause)]
        needs += [matter(without(end, clause), words) | numbers_of(clause) for clause in over]
    for clause in clauses_that_cancel(said, words):
        subject = signs_of(matter(clause, words))
        needs.append(subject | values_of(clause) | _tagged(clause))
        needs += [frozenset([("day", day)]) for _, day in days_of(clause)]
    if needs or says("change", said):
        needs += [frozenset([("time", date)]) for date in dates_of(said)]
    return needs


def _needs_of_denial(said: str, words: Words) -> list[frozenset[Hashable]]:
    """What has a value or words that are said to be wrong, and a promise that is taken back."""
    needs: list[frozenset[Hashable]] = [frozenset([("bare", one)]) for one in values_left(said)]
    needs += [signs_of(matter(word, words)) for word in words_denied(said)]
    if backs_out(said):
        needs += [frozenset([_PROMISE, word]) for word in matter(said, words)]
    return needs


def _needs_of_change(said: str, words: Words) -> list[frozenset[Hashable]]:
    """What gets another value by a word of change, or is turned round by it."""
    heads = [head for head, _, _ in changes_told(said, words)]
    heads = [head for head in heads if matter(head, words)]
    needs = [matter(head, words) | values_of(head) | _tagged(head) for head in heads]
    needs += [_turned(clause, words) for clause in clauses_of(said, words)]
    left = first_match(rules("changes")["from"], said)
    needs += [matter(left["left"], words)] if left else []
    needs += [_keys_of(part, words) for part in _QUOTES.split(said)[:-1]]
    needs += [frozenset([subject]) for subject, _ in new_only_values(said, words)]
    return needs


def _turned(clause: str, words: Words) -> frozenset[Hashable]:
    """What a clause speaks of, where the older one forbids what this one allows, or allows it."""
    about = matter(without("change", clause), words)
    return about | {("forbids", not says("forbids", clause))} if about else about


def _tagged(text: str) -> frozenset[Hashable]:
    return frozenset(("name", name) for name in names_of(text))
