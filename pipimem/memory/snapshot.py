"""Snapshot: what a session's first turn is shown, whatever the user says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.recall.budgeting import size_of
from pipimem.recall.items import Item, history_items, memory_items, session_items, workspace_items

# DESIGN §8: the workspace's shared background has room of its own.
_WORKSPACE_TOKENS = 500
# What breaks things when it is not known comes first; lessons and small facts wait for a question that needs them.
# The empty kind is a section of people's own.
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

    Every kind has its turn: the newest entry of each, then the next of each, so that a long list of facts cannot push
    out the one constraint.
    """
    rank = {name: place for place, name in enumerate(_SESSION)}
    session = sorted(
        session_items(notes.session, notes.ledger.tombstones),
        key=lambda item: rank.get(item.kind, len(rank)),
    )
    memory = memory_items(notes.memory, notes.ledger.records)
    history = history_items(notes.history, notes.ledger.tombstones)
    piles = [session, *_by_kind(memory), history[-_NEWEST_BULLETS:][::-1]]
    channel, left = _fitting(_interleaved(piles), max_chars, max_tokens)
    workspace, left_shared = _fitting(
        workspace_items(notes.workspace), max_chars, _WORKSPACE_TOKENS
    )
    # Shown as a person would read it: session, memory, history, each as its file has it.
    picked = {item.id: item for item in channel}
    in_order = [picked.pop(item.id) for item in (*session, *memory, *history) if item.id in picked]
    return Snapshot((*in_order, *workspace), left + left_shared)


def _fitting(items: Sequence[Item], chars: int, tokens: int) -> tuple[list[Item], int]:
    chosen = []
    for item in items:
        size, cost = size_of(item)
        if size <= chars and cost <= tokens:
            chosen.append(item)
            chars, tokens = chars - size, tokens - cost
    return chosen, len(items) - len(chosen)


def _interleaved(piles: Sequence[Sequence[Item]]) -> list[Item]:
    """The first of each pile, then the second of each; equal texts share an id, and the first stands for all."""
    turns = range(max(map(len, piles)))
    return list(
        {pile[turn].id: pile[turn] for turn in turns for pile in piles if turn < len(pile)}.values()
    )


def _by_kind(memory: Sequence[Item]) -> list[list[Item]]:
    piles: dict[str, list[Item]] = {kind: [] for kind in _KINDS}
    # New entries go to the end of their section, so the end is the newest.
    for item in reversed(memory):
        piles[item.kind if item.kind in piles else ""].append(item)
    return list(piles.values())
