"""Recall: which items of a channel's memory matter for a message, each said once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from pipimem.notes.operations import Trust
from pipimem.recall.budget import Limits, context_block, within
from pipimem.recall.index import Index
from pipimem.recall.items import Candidate, Item, masked_item, masked_items
from pipimem.recall.phrases import is_mark
from pipimem.recall.query import Query, refined
from pipimem.recall.ranking import FLOOR, ranked
from pipimem.recall.scorer import NAMES_THE_TIME, is_of_asked_day
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness
from pipimem.settings import SecretSettings
from pipimem.text.fence import RECALLED_NOTE
from pipimem.text.quotes import QuoteParts, of_different_people
from pipimem.text.secrets import NO_LIST
from pipimem.text.words.index_words import Bag
from pipimem.text.words.similarity import (
    NEAR_DUPLICATE,
    jaccard,
    names_differ,
    near_duplicate,
    same_subject,
)

# A newer word on a subject that says nearly as much of what was asked is what holds. Of sentences
# that only share the subject, not the matter asked for, the lesser has about half of the score.
_NEARLY_AS_GOOD = 0.75
# Where both hold the same words of a question for a value (a time, a price), and tell one, the
# lesser is the longer sentence, or the one in the other language.
_AS_GOOD_A_VALUE = 2 / 3
# One word that is shared makes no subject.
_LEAST_HELD = 2


class _SaidOf(NamedTuple):
    """A candidate, who said it and when, and the words that were said."""

    candidate: Candidate
    quote: QuoteParts
    bag: Bag
    words: frozenset[str]

    @property
    def is_of_person(self) -> bool:
        """Whether a person wrote the entry, or confirmed it."""
        return self.candidate.item.trust == Trust.HUMAN

    @property
    def day(self) -> str:
        """The day of the quote, else that of the entry, so written that days compare."""
        when = self.candidate.item.when
        return self.quote.day or (f"{when:%Y-%m-%d}" if when else "")


def deduped(
    candidates: Iterable[Candidate], index: Index, query: Query, most: int
) -> tuple[Candidate, ...]:
    """The first `most` candidates of which no two say the same, with their ranks.

    Of two that say the same, the better stays. What differs in a name, a number or an identifier
    does not say the same. Who said it, and when, do not count, but that two people say it of
    themselves. A newer word on a subject comes before an older one that scored a little higher.
    """
    kept: list[_SaidOf] = []
    for candidate in candidates:
        one = _SaidOf(candidate, *index.said(candidate.slot))
        if any(_is_same(one, other) for other in kept):
            continue
        place = len(kept)
        if one.day:
            place = next(
                (place for place, other in enumerate(kept) if _is_newer(one, other, query)), place
            )
        kept.insert(place, one)
        if len(kept) == most:
            break
    return tuple(one.candidate._replace(rank=rank) for rank, one in enumerate(kept, start=1))


def _is_same(one: _SaidOf, other: _SaidOf) -> bool:
    # The share of common words settles it nearly always, and costs the least.
    if jaccard(one.words, other.words) <= NEAR_DUPLICATE or of_different_people(
        one.quote, other.quote
    ):
        return False
    if one.quote.said == other.quote.said:
        return True
    return near_duplicate(one.bag, other.bag) and not names_differ(one.quote.said, other.quote.said)


def _is_newer(one: _SaidOf, other: _SaidOf, query: Query) -> bool:
    """Whether `one` was said on a later day than `other`, of the same subject.

    Never where the question asks for the earlier day, nor where only the earlier one is a person's
    own entry.
    """
    if not other.day or one.day <= other.day:
        return False
    if other.is_of_person and not one.is_of_person:
        return False
    if is_of_asked_day(other.candidate.item, query):
        return False
    share = one.candidate.score / other.candidate.score
    if share >= _AS_GOOD_A_VALUE and _tell_what_is_asked(one, other, query):
        return True
    return share >= _NEARLY_AS_GOOD and same_subject(other.quote.said, one.quote.said)


def _tell_what_is_asked(one: _SaidOf, other: _SaidOf, query: Query) -> bool:
    """Whether both tell a thing of the kind that is asked for: a time, an amount of money.

    `one` must hold each word of the question that `other` holds.
    """
    first, second = one.candidate, other.candidate
    held = _strong_places(second)
    if first.matches < second.matches or len(held) < _LEAST_HELD:
        return False
    if not all(first.values[place] for place in held):
        return False
    if any(is_mark(second.names[place]) for place in held):
        return True
    names_times = [NAMES_THE_TIME in dict(each.circumstances) for each in (first, second)]
    return query.asks_when and all(names_times)


def _strong_places(candidate: Candidate) -> list[int]:
    """Where the words of a question that mean something stand among those that an item holds."""
    values = candidate.values[: candidate.strong]
    return [place for place, value in enumerate(values) if value]


# Of those looked at, some turn out to be near-duplicates, or chance.
_LOOKED_AT = 2
# The first that is left out is nearly as good as the last that is shown …
_NEAR_THE_BORDER = 0.9
# … and not far behind the best: else what matters is in. Of 142 questions each in memories of 50,
# 500 and 5,000 entries a model is asked for 0, 0 and 12; at 0.5 for 2, 35 and 64.
_NEAR_THE_BEST = 0.75
_NOTHING = "nothing shares a word that matters"
_TOO_LITTLE = "what shares a word with it holds too little of it"
_NOTHING_NEAR = "nothing shares a word that matters, or surely means what is asked"


def no_timing(_stage: str) -> None:
    """Ignores that a step is done."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found for a message and what of it is injected.

    `left_out` counts candidates that had no room, `repeated` are those that would be injected, were
    they not shown already. `reason` says why nothing was looked for or found, empty otherwise.
    `excerpts` are messages that are shown beside the entries, in the order they were said.
    """

    candidates: tuple[Candidate, ...] = ()
    injected: tuple[Item, ...] = ()
    left_out: int = 0
    reason: str = ""
    excerpts: tuple[Item, ...] = ()
    repeated: tuple[Item, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what was injected, to hand back as `shown`: a session sees a text once."""
        return tuple(item.id for item in self.injected)

    def masked(self, own: SecretSettings) -> Recall:
        """The recall without what a workspace masks by a list of its own."""
        if own == NO_LIST:
            return self
        candidates = [one._replace(item=masked_item(one.item, own)) for one in self.candidates]
        return replace(
            self,
            candidates=tuple(candidates),
            injected=masked_items(self.injected, own),
            excerpts=masked_items(self.excerpts, own),
            repeated=masked_items(self.repeated, own),
        )

    def context(self, key: bytes) -> str:
        """The block to inject, its tag a hash under the channel's `key`; empty without items."""
        items = (*self.injected, *self.excerpts)
        return context_block(items, key, note=RECALLED_NOTE, left_out=self.left_out)


def recall(
    index: Index,
    text: str,
    *,
    now: datetime,
    shown: Set[str] = frozenset(),
    limits: Limits | None = None,
    automatic: bool = True,
    speaker: str = "",
    synonyms: Synonyms = NO_SYNONYMS,
    nearness: Nearness = FAR_FROM_ALL,
) -> Recall:
    """What the items of an index have to say to `text`.

    `automatic` is the path of every turn: it refines the question and stays silent without good
    evidence. Without it, a person searches: every word as it is, no floor. `shown` are ids that are
    not injected again. `nearness` says what is near in meaning, where there is an embedder.
    """
    raw = not automatic
    query = refined(text, index.words, now=now, speaker=speaker, synonyms=synonyms, raw=raw)
    floor = FLOOR if automatic else 0.0
    return found_for(index, query, now, floor, shown=shown, limits=limits, nearness=nearness)


def found_for(
    index: Index,
    query: Query,
    now: datetime,
    floor: float = FLOOR,
    *,
    shown: Set[str] = frozenset(),
    limits: Limits | None = None,
    nearness: Nearness = FAR_FROM_ALL,
    done: Callable[[str], None] = no_timing,
) -> Recall:
    """What the items of an index have to say to a refined question, above a floor of evidence.

    `done` is called with the name of each step when it is over.
    """
    if query.silent:
        return Recall(reason=query.silent)
    limits = limits or Limits()
    most = _LOOKED_AT * limits.candidates
    ordered = ranked(index, query, now, most=most, floor=floor, nearness=nearness)
    done("rank")
    candidates = deduped(ordered, index, query, limits.candidates)
    done("dedupe")
    nothing = _NOTHING if nearness is FAR_FROM_ALL else _NOTHING_NEAR
    injected, left_out = within(candidates, limits, shown)
    done("fit")
    best = candidates[: limits.inject]
    repeated = tuple(one.item for one in best if one.item.id in shown)
    reason = ""
    if not candidates:
        reason = _TOO_LITTLE if index.shares(query.terms) else nothing
    return Recall(candidates, injected, left_out, reason, repeated=repeated)


def unsure(candidates: Sequence[Candidate], limits: Limits, shown: Set[str] = frozenset()) -> bool:
    """Whether candidates that are left out score nearly as high as some that are injected.

    Never where all of them are injected.
    """
    scores = [one.score for one in candidates if one.item.id not in shown]
    if len(scores) <= limits.inject:
        return False
    best, last_in, first_out = scores[0], scores[limits.inject - 1], scores[limits.inject]
    return first_out >= _NEAR_THE_BORDER * last_in and first_out >= _NEAR_THE_BEST * best
