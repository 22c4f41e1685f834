"""MEMORY.md tidied, and a month of HISTORY.md folded, by repetitions, sections and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipimem.notes.guards import most_taken_out
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules.choosing import sure_kind, weight_of
from pipimem.sidecar.tasks import (
    Fold,
    Folded,
    HistoryItem,
    KnownEntry,
    Merge,
    Outdated,
    Refile,
    Tidied,
    Tidy,
)
from pipimem.text.quotes import words_said
from pipimem.text.talk.sentences import Sentence
from pipimem.text.words.index_words import Words
from pipimem.text.words.similarity import says_the_same

# A month on half a page, and never much more than half of what was there.
_MOST_BULLETS = 12
_SHARE = 0.6
_LEAST_BULLETS = 3


def tidied(task: Tidy) -> Tidied:
    """Merges, moves and drops of inferred entries; what people wrote or asked for stays.

    What HISTORY.md says as well is dropped in `memory/tidy`, whoever is asked.
    """
    ours = [known for known in task.memory if known.trust is Trust.INFERRED]
    room = most_taken_out(len(task.memory))
    merges, left = _merges(ours, room)
    room -= sum(len(merge.ids) - 1 for merge in merges)
    repeated = [known for known in left if _is_repeated(known, task)]
    drops = [Outdated(known.id, "duplicate") for known in repeated[:room]]
    dropped = {drop.id for drop in drops}
    moves = _misfiled(known for known in left if known.id not in dropped)
    return Tidied(tuple(merges), tuple(moves), tuple(drops))


def _merges(ours: Sequence[KnownEntry], room: int) -> tuple[list[Merge], list[KnownEntry]]:
    """Merges that take out at most `room` entries, and the entries that none of them names."""
    merges: list[Merge] = []
    left: list[KnownEntry] = []
    for group in _repetitions(ours):
        fewer = len(group) - 1
        if 0 < fewer <= room:
            longest = max((known.text for known in group), key=len)
            merges.append(Merge(tuple(known.id for known in group), longest))
            room -= fewer
        else:
            left += group
    return merges, left


def _repetitions(ours: Sequence[KnownEntry]) -> list[list[KnownEntry]]:
    """The entries in groups of one section that say the same."""
    groups: list[list[KnownEntry]] = []
    for known in ours:
        for group in groups:
            first = group[0]
            if first.section == known.section and says_the_same(first.text, known.text):
                group.append(known)
                break
        else:
            groups.append([known])
    return groups


def _is_repeated(known: KnownEntry, task: Tidy) -> bool:
    """Whether a person's own entry, or one that was asked for, says the same."""
    others = (other for other in task.memory if other.trust is not Trust.INFERRED)
    return any(says_the_same(known.text, other.text) for other in others)


def _misfiled(ours: Iterable[KnownEntry]) -> list[Refile]:
    """What stands among the facts and is surely of another kind."""
    facts = [known for known in ours if kind_of(known.section) is Kind.FACT]
    moves = [(known, sure_kind(words_said(known.text))) for known in facts]
    return [Refile(known.id, kind) for known, kind in moves if kind and kind is not Kind.FACT]


def folded(task: Fold, words: Words) -> Folded:
    """The month's bullets, each with the ids it stands for; no title."""
    once: list[HistoryItem] = []
    for name, text in task.bullets:
        for place, known in enumerate(once):
            if says_the_same(known.text, text):
                once[place] = HistoryItem(max(known.text, text, key=len), (*known.sources, name))
                break
        else:
            once.append(HistoryItem(text, (name,)))
    room = min(_MOST_BULLETS, max(_LEAST_BULLETS, round(len(task.bullets) * _SHARE)))
    weightiest = sorted(once, key=lambda bullet: -_weight(bullet.text, words))[:room]
    return Folded("", tuple(bullet for bullet in once if bullet in weightiest))


def _weight(text: str, words: Words) -> float:
    return max(0.0, weight_of(Sentence(words_said(text), (), "", "user", None, 0), words))
