"""Snapshot: what a session's first turn is shown, whatever the user says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.recall.budget import size_of
from pipimem.recall.items import Item, history_items, memory_items, session_items, workspace_items

# The workspace's shared background has room of its own, so that it cannot crowd out the channel's
# memory.
_WORKSPACE_TOKENS = 500
# What breaks things when it is not known comes first; lessons and small facts wait for a question
# that needs them. The empty kind is a section of people's own.
_KINDS = (
    Kind.CONSTRAINT,
    Kind.DECISION,
    Kind.PREFERENCE,
    Kind.OPEN_LOOP,
    Kind.IDENTITY,
    Kind.ONGOING,
    "",
    Kind.FACT,
    Kind.LESSON,
)
_SESSION = (
    "Session Title",
    "Current State",
    "Next Steps",
    "Constraints",
    "Decisions",
    "User Intent",
    "Errors & Corrections",
)
# History is long; its newest bullets say where things were left.
_NEWEST_BULLETS = 8


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is shown, and how much of the memory had no room."""

    items: tuple[Item, ...] = ()
    left_out: int = 0


def snapshot(notes: Notes, max_chars: int, max_tokens: int) -> Snapshot:
    """The channel's memory as far as it fits, the most binding first; whole items only.

    Every kind has its turn: the newest entry of each, then the next of each, so that a long list of
    facts cannot push out the one constraint.
    """
    rank = {name: place for place, name in enumerate(_SESSION)}
    session = sorted(
        session_items(notes.session, notes.ledger.tombstones),
        key=lambda item: rank.get(item.kind, len(rank)),
    )
    memory = memory_items(notes.memory, notes.ledger.records)
    history = history_items(notes.history, notes.ledger.tombstones)
    piles = [session, *_by_kind(memory), history[-_NEWEST_BULLETS:][::-1]]
    channel, channel_left_out = _fitting(_interleaved(piles), max_chars, max_tokens)
    shared = workspace_items(notes.workspace)
    workspace, workspace_left_out = _fitting(shared, max_chars, _WORKSPACE_TOKENS)
    # Shown as a person would read it: session, memory, history, each as its file has it.
    places = {
        item.id: place for place, item in reversed([*enumerate([*session, *memory, *history])])
    }
    channel.sort(key=lambda item: places[item.id])
    return Snapshot((*channel, *workspace), channel_left_out + workspace_left_out)


def _fitting(items: Sequence[Item], chars: int, tokens: int) -> tuple[list[Item], int]:
    chosen = []
    for item in items:
        size, cost = size_of(item)
        if size <= chars and cost <= tokens:
            chosen.append(item)
            chars, tokens = chars - size, tokens - cost
    return chosen, len(items) - len(chosen)


def _interleaved(piles: Sequence[Sequence[Item]]) -> list[Item]:
    """The first of each pile, then the second of each; of equal ids the first is kept."""
    found: dict[str, Item] = {}
    for items in zip_longest(*piles):
        for item in items:
            if item is not None:
                found.setdefault(item.id, item)
    return list(found.values())


def _by_kind(memory: Sequence[Item]) -> list[list[Item]]:
    piles: dict[str, list[Item]] = {kind: [] for kind in _KINDS}
    # New entries go to the end of their section, so the end is the newest.
    for item in reversed(memory):
        piles[item.kind if item.kind in piles else ""].append(item)
    return list(piles.values())
