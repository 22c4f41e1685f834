"""Snapshot: what a session's first turn is shown, whatever the user says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipimem.notes.entry import Entry
from pipimem.notes.history import blocks
from pipimem.notes.kinds import Kind, kind_of
from pipimem.notes.notes import Note, Notes
from pipimem.notes.session import section_of
from pipimem.text.tokens import estimate

# DESIGN §8: the workspace's shared background has room of its own.
_WORKSPACE_TOKENS = 500
# What breaks things when it is not known comes first; lessons and small facts wait for a question that needs them.
_KINDS = (
    Kind.CONSTRAINT, Kind.DECISION, Kind.PREFERENCE, Kind.OPEN_LOOP, Kind.IDENTITY, Kind.ONGOING, None, Kind.FACT, Kind.LESSON,
)
_SESSION = ("Session Title", "Current State", "Next Steps", "Constraints", "Decisions", "User Intent", "Errors & Corrections")
_LAST_BLOCKS = 2


@dataclass(frozen=True, slots=True)
class Shown:
    """One line of the snapshot; `id` is the one recall would give it."""

    id: str
    source: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is shown, and how much of the memory had no room."""

    items: tuple[Shown, ...]
    left_out: int


def snapshot(notes: Notes, max_chars: int, max_tokens: int) -> Snapshot:
    """The channel's memory as far as it fits, the most binding first; whole entries only.

    Each kind gets its turn: the newest entry of every kind, then the next of every kind, so that a long list of facts
    cannot push out the one constraint.
    """
    channel, left = _fitting(_interleaved(notes), max_chars, max_tokens)
    workspace, left_shared = _fitting(list(_bullets(notes.workspace, "workspace")), max_chars, _WORKSPACE_TOKENS)
    return Snapshot((*_in_order(channel), *workspace), left + left_shared)


def _fitting(items: Sequence[Shown], chars: int, tokens: int) -> tuple[list[Shown], int]:
    chosen = []
    for item in items:
        cost = estimate(item.text)
        if len(item.text) <= chars and cost <= tokens:
            chosen.append(item)
            chars, tokens = chars - len(item.text), tokens - cost
    return chosen, len(items) - len(chosen)


def _interleaved(notes: Notes) -> list[Shown]:
    piles = [list(_session(notes.session)), *_by_kind(notes.memory), list(_latest(notes.history))]
    return [pile[turn] for turn in range(max(map(len, piles))) for pile in piles if turn < len(pile)]


def _in_order(items: Sequence[Shown]) -> list[Shown]:
    """Session first, then memory section by section, then history: as a person would read it."""
    sources = ("session", "memory", "history")
    sections = list(dict.fromkeys((item.source, item.section) for item in items))
    return sorted(items, key=lambda item: (sources.index(item.source), sections.index((item.source, item.section))))


def _session(note: Note) -> Iterator[Shown]:
    standing = [section for section in note.document.sections if section.level]
    rank = {name: place for place, name in enumerate(_SESSION)}
    for section in sorted(standing, key=lambda s: rank.get(section_of(s.title) or "", len(rank))):
        lines = [entry.text for entry in note.entries if section.body <= entry.start < section.end]
        if lines:
            yield Shown(f"session:{_slug(section.title)}", "session", section.title, "\n".join(lines))


def _by_kind(note: Note) -> list[list[Shown]]:
    piles: dict[Kind | None, list[Shown]] = {kind: [] for kind in _KINDS}
    # New entries go to the end of their section, so the end is the newest.
    for entry in reversed(note.entries):
        piles[kind_of(entry.section)].append(_shown(entry, "memory"))
    return list(piles.values())


def _bullets(note: Note, source: str) -> Iterator[Shown]:
    return (_shown(entry, source) for entry in note.entries)


def _latest(note: Note) -> Iterator[Shown]:
    for block in reversed(blocks(note)[-_LAST_BLOCKS:]):
        for entry in block.bullets:
            yield Shown(f"history:{entry.ref}", "history", block.heading, entry.text)


def _shown(entry: Entry, source: str) -> Shown:
    return Shown(f"{source}:{entry.ref}", source, entry.section, entry.text)


def _slug(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.casefold()).split())
