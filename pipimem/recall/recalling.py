"""Recall: what of a channel's memory matters for this message."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.recall.budgeting import Limits, rows_of, within
from pipimem.recall.deduping import deduped
from pipimem.recall.index import Index
from pipimem.recall.items import Item
from pipimem.recall.ranking import FLOOR, Candidate, ranked
from pipimem.recall.refinement import Query, refined
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness
from pipimem.text.fence import fenced

# Of those looked at, some turn out to be near-duplicates, or chance.
_LOOKED_AT = 2
_NOTHING = "nothing shares a word that matters"
_NOTHING_NEAR = "nothing shares a word that matters, or surely means what is asked"


def unwatched(_stage: str) -> None:
    """Nobody wants to know how long a step takes."""


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found for a message and what of it is injected.

    `left_out` counts candidates that had no room. `reason` says why nothing was looked for or found, empty
    otherwise.
    """

    query: Query
    candidates: tuple[Candidate, ...] = ()
    injected: tuple[Item, ...] = ()
    left_out: int = 0
    reason: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """What to hand back as `shown`, so that a session sees each text once."""
        return tuple(item.id for item in self.injected)

    def context(self, nonce: str) -> str:
        """The block to inject, empty if there is nothing."""
        return fenced(rows_of(self.injected), nonce) if self.injected else ""


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
    done: Callable[[str], None] = unwatched,
) -> Recall:
    """What the items of an index have to say to `text`.

    `automatic` is the path of every turn: it refines the question and stays silent without good evidence.
    Without it, a person searches: every word as it is, no floor. `shown` are ids that are not
    injected again. `nearness` says what is near in meaning, where there
    is an embedder; `done` is told the name of each step behind us.
    """
    limits = limits or Limits()
    query = refined(
        text, index.words, now=now, speaker=speaker, synonyms=synonyms, raw=not automatic
    )
    done("refine")
    if query.silent:
        return Recall(query, reason=query.silent)
    ordered = ranked(
        index,
        query,
        now,
        most=_LOOKED_AT * limits.candidates,
        floor=FLOOR if automatic else 0.0,
        nearness=nearness,
    )
    done("rank")
    candidates = deduped(ordered, index, limits.candidates)
    done("dedupe")
    nothing = _NOTHING if nearness is FAR_FROM_ALL else _NOTHING_NEAR
    found = fitted(Recall(query, candidates, reason="" if candidates else nothing), limits, shown)
    done("fit")
    return found


def fitted(found: Recall, limits: Limits, shown: Set[str] = frozenset()) -> Recall:
    """The same candidates, with what of them is injected where these were `shown` already."""
    injected, left_out = within(found.candidates, limits, shown)
    return replace(found, injected=injected, left_out=left_out)
