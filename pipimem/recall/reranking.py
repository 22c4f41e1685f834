"""When the local order of what was found is unsure, and what another order makes of it."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from pipimem.recall.budgeting import Limits, within
from pipimem.recall.ranking import Candidate
from pipimem.recall.recalling import Recall

# DESIGN §5: what a model sees of a candidate.
CANDIDATE_CHARS = 800
# The first that is left out is nearly as good as the last that is shown …
_NEAR_THE_BORDER = 0.9
# … and not far behind the best: else what matters is in. Of 142 questions each in memories of 50, 500 and 5,000 entries
# a model is asked for 0, 0 and 12; at 0.5 for 2, 35 and 64.
_NEAR_THE_BEST = 0.75


def unsure(candidates: Sequence[Candidate], limits: Limits, shown: Set[str] = frozenset()) -> bool:
    """Whether it is chance which candidates are injected; where all of them are, their order matters little."""
    scores = [one.score for one in candidates if one.item.id not in shown]
    if len(scores) <= limits.inject:
        return False
    best, last_in, first_out = scores[0], scores[limits.inject - 1], scores[limits.inject]
    return first_out >= _NEAR_THE_BORDER * last_in and first_out >= _NEAR_THE_BEST * best


def reordered(
    found: Recall, order: Sequence[int], limits: Limits, shown: Set[str] = frozenset()
) -> Recall:
    """What is injected when `order` (places from 1, best first) decides; an empty one keeps the first.

    `candidates` stay in the local order, so that an explanation still holds.
    """
    chosen = [found.candidates[place - 1] for place in order] or list(found.candidates[:1])
    injected, left_out = within(chosen, limits, shown)
    return replace(found, injected=injected, left_out=left_out)
