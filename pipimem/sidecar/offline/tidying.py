"""MEMORY.md tidied by what can be seen without understanding it: repetitions, and things in the wrong place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipimem.notes.guards import most_taken_out
from pipimem.notes.kinds import EVENTS, Kind, kind_of
from pipimem.notes.operations import Trust
from pipimem.sidecar.contracts import Known, Merge, Over, Refile, Tidied, Tidy
from pipimem.sidecar.offline.cues import kinds
from pipimem.text.similarity import COPY, NEARLY_ALIKE, SAME_THOUGHT, alike, bigrams, jaccard, same_numbers
from pipimem.text.words import Words


def tidied(task: Tidy, words: Words) -> Tidied:
    """Merges, moves and drops of entries that a thought concluded; what people wrote or asked for is left alone."""
    ours = [known for known in task.memory if known.trust is Trust.INFERRED]
    allowed = most_taken_out(len(task.memory))
    groups = _repetitions(ours, words)[:allowed]
    merges = tuple(
        Merge(tuple(known.id for known in group), max((known.text for known in group), key=len)) for group in groups
    )
    taken = {name for merge in merges for name in merge.ids}
    spent = sum(len(group) - 1 for group in groups)
    drops = [*_said_by_people(task.memory, ours, words), *_told(ours, task.history)]
    dropped = [over for over in dict.fromkeys(drops) if over.id not in taken][: max(0, allowed - spent)]
    taken |= {over.id for over in dropped}
    return Tidied(merges, tuple(_misfiled(known for known in ours if known.id not in taken)), tuple(dropped))


def same(a: str, b: str, words: Words) -> bool:
    """Whether two entries say one thing."""
    if not same_numbers(a, b):
        return False
    mine, theirs = words.bag(a), words.bag(b)
    if mine.negations != theirs.negations:
        return False
    shared = jaccard(frozenset(mine.words), frozenset(theirs.words))
    return shared >= NEARLY_ALIKE or alike(bigrams(a), bigrams(b)) >= SAME_THOUGHT


def _repetitions(ours: Sequence[Known], words: Words) -> list[list[Known]]:
    groups: list[list[Known]] = []
    for known in ours:
        home = next((g for g in groups if g[0].section == known.section and same(g[0].text, known.text, words)), None)
        if home is None:
            groups.append([known])
        else:
            home.append(known)
    return [group for group in groups if len(group) > 1]


def _said_by_people(memory: Sequence[Known], ours: Sequence[Known], words: Words) -> list[Over]:
    """Our entries that say what a person's own entry says."""
    theirs = [known for known in memory if known.trust is not Trust.INFERRED]
    return [Over(k.id, "duplicate") for k in ours if any(same(k.text, t.text, words) for t in theirs)]


def _told(ours: Sequence[Known], history: Sequence[str]) -> list[Over]:
    """Events that history tells nearly word for word."""
    told = [bigrams(line) for line in history]
    return [
        Over(known.id, "in_history")
        for known in ours
        if kind_of(known.section) in EVENTS and any(alike(bigrams(known.text), line) >= COPY for line in told)
    ]


def _misfiled(ours: Iterable[Known]) -> list[Refile]:
    """What shows one sure cue, and stands among the facts."""
    moves: list[Refile] = []
    for known in ours:
        if kind_of(known.section) is Kind.FACT:
            sure = [kind for kind in kinds(known.text) if kind is not Kind.FACT]
            if len(sure) == 1:
                moves.append(Refile(known.id, sure[0]))
    return moves
