"""MEMORY.md tidied by what can be seen without understanding it: repetitions, and things in the wrong place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipimem.notes.guards import most_taken_out
from pipimem.notes.kinds import EVENTS, Kind, kind_of
from pipimem.notes.operations import Trust
from pipimem.sidecar.contracts import Known, Merge, Over, Refile, Tidied, Tidy
from pipimem.sidecar.offline.choosing import sure_kind
from pipimem.text.quotes import read_quote, words_said
from pipimem.text.similarity import same_thought


def tidied(task: Tidy) -> Tidied:
    """Merges, moves and drops of entries that a thought concluded; what people wrote or asked for is left alone."""
    ours = [known for known in task.memory if known.trust is Trust.INFERRED]
    room = most_taken_out(len(task.memory))
    merges: list[Merge] = []
    for group in _repetitions(ours):
        if len(group) > 1 and len(group) - 1 <= room:
            merges.append(
                Merge(
                    tuple(known.id for known in group),
                    max((known.text for known in group), key=len),
                )
            )
            room -= len(group) - 1
    taken = {name for merge in merges for name in merge.ids}
    drops = [
        over for known in ours if known.id not in taken and (over := _told_elsewhere(known, task))
    ][:room]
    taken |= {over.id for over in drops}
    return Tidied(
        tuple(merges),
        tuple(_misfiled(known for known in ours if known.id not in taken)),
        tuple(drops),
    )


def _repetitions(ours: Sequence[Known]) -> list[list[Known]]:
    """The entries in groups of one section that say one thing, each in its words that stand in the file."""
    groups: list[list[Known]] = []
    for known in ours:
        home = [
            g
            for g in groups
            if g[0].section == known.section and same_thought(g[0].text, known.text)
        ]
        if home:
            home[0].append(known)
        else:
            groups.append([known])
    return groups


def _told_elsewhere(known: Known, task: Tidy) -> Over | None:
    """Why an entry may go: a person's own entry says it, or it is an event and history tells it.

    A quote stays: the same words stand in history, and a fold keeps only the weightiest of them.
    """
    if any(
        other.trust is not Trust.INFERRED and same_thought(known.text, other.text)
        for other in task.memory
    ):
        return Over(known.id, "duplicate")
    told = not read_quote(known.text).day and any(
        same_thought(known.text, line) for line in task.history
    )
    if told and kind_of(known.section) in EVENTS:
        return Over(known.id, "in_history")
    return None


def _misfiled(ours: Iterable[Known]) -> list[Refile]:
    """What stands among the facts and is surely of another kind."""
    facts = [known for known in ours if kind_of(known.section) is Kind.FACT]
    moves = [(known, sure_kind(words_said(known.text))) for known in facts]
    return [Refile(known.id, kind) for known, kind in moves if kind and kind is not Kind.FACT]
