"""Which choices of a window a later statement ends, and which are quoted with what changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.changes import concerns, ends, is_over
from pipimem.sidecar.rules.choosing import Choice
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import stated, statements
from pipimem.text.talk.context import is_of_another_day, together
from pipimem.text.talk.sentences import Sentence
from pipimem.text.words.index_words import Words

# What changes an older statement is kept wherever that one is.
_CHANGED = 4.0


def without_ended(chosen: Sequence[Choice], said: Sequence[Sentence], words: Words) -> list[Choice]:
    """The choices that no later sentence of the window ends."""
    index = ClaimIndex((one.claim for one in chosen), words)
    ended = set[int]()
    for new in statements(said):
        claim = stated(new)
        for place in set(index.may_end(claim.said)) - ended:
            older = chosen[place]
            if older.sentence.place < new.place and is_over(older.claim, (claim,), words):
                ended.add(place)
    return [one for place, one in enumerate(chosen) if place not in ended]


def with_changes(chosen: Sequence[Choice], said: Sequence[Sentence], words: Words) -> list[Choice]:
    """The choices, and among them what else gives one that stands before it another value.

    That has no weight of its own: it is to be quoted with the one it changes.
    """
    index = ClaimIndex((one.claim for one in chosen), words)
    found = {one.sentence.place: one for one in chosen}
    for new in statements(said):
        if new.place not in found and any(
            chosen[place].sentence.place < new.place
            and concerns(stated(new), chosen[place].claim, words)
            and not ends(stated(new), chosen[place].claim, words)
            for place in index.may_end(new.text)
        ):
            found[new.place] = Choice(new, Kind.FACT, 0.0)
    return [found[place] for place in sorted(found)]


def with_older(
    chosen: Sequence[Choice],
    words: Words,
    *,
    known: Sequence[Choice] | None = None,
    ended: bool = False,
) -> list[Choice]:
    """The choices, each that changes an earlier one, or one `known`, quoted together with it.

    An earlier one that holds no longer is left out, and one that cannot be quoted with a later day;
    with `ended`, for history, both are told.
    """
    first = len(known or ())
    found: dict[int, Choice] = dict(enumerate(known or ()))
    index = ClaimIndex((one.claim for one in found.values()), words)
    for number, one in enumerate(chosen, first):
        place = _changed(found, index.may_end(one.claim.said), one, words)
        if place is not None:
            older = found[place]
            is_left_out = not ended and ends(one.claim, older.claim, words)
            whole = one.sentence if is_left_out else together(older.sentence, one.sentence)
            if whole or (not ended and is_of_another_day(older.sentence, one.sentence)):
                del found[place]
            if whole:
                one = Choice(whole, older.kind, one.weight + _CHANGED)
        found[number] = one
        if known is None:
            index.add(one.claim)
    return [one for place, one in found.items() if place >= first]


def _changed(
    found: Mapping[int, Choice], places: Sequence[int], one: Choice, words: Words
) -> int | None:
    """The last of the places whose choice the newer one changes."""
    for place in reversed(places):
        older = found.get(place)
        if older is None:
            continue
        if ends(one.claim, older.claim, words) or concerns(one.claim, older.claim, words):
            return place
    return None
