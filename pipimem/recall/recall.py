"""Recall: what of a channel's memory matters for this message."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.recall.budget import Limits, within
from pipimem.recall.candidate import Candidate
from pipimem.recall.context_block import context_block
from pipimem.recall.dedupe import deduped
from pipimem.recall.index import Index
from pipimem.recall.items import Item, masked_item, masked_items
from pipimem.recall.query import Query
from pipimem.recall.ranking import FLOOR, ranked
from pipimem.recall.refinement import refined
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness
from pipimem.settings import SecretSettings
from pipimem.text.fence import RECALLED_NOTE
from pipimem.text.secrets import NO_LIST

# Of those looked at, some turn out to be near-duplicates, or chance.
_LOOKED_AT = 2
# The first that is left out is nearly as good as the last that is shown …
_NEAR_THE_BORDER = 0.9
# … and not far behind the best: else what matters is in. Of 142 questions each in memories of 50,
# 500 and 5,000 entries a model is asked for 0, 0 and 12; at 0.5 for 2, 35 and 64.
_NEAR_THE_BEST = 0.75
_NOTHING = "nothing shares a word that matters"
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
    reason = "" if candidates else nothing
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
