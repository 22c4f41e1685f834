"""Short ids in what a model is sent, and the true ones in its answer.

A platform's message id may cost more tokens than the message, once in the prompt and once in the
schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pipimem.notes.message import Message
from pipimem.notes.operations import Bullet
from pipimem.sidecar.tasks import (
    Answer,
    Consolidate,
    Consolidated,
    KnownEntry,
    Over,
    Refile,
    Refresh,
    Reword,
    Task,
    Tidied,
    Tidy,
)

_OfEntry = TypeVar("_OfEntry", Over, Refile, Reword)

# Of letters and digits a million: that a model names another entry by a slip is as good as
# impossible, where with numbers it would end its neighbour.
_SHORTEST_ENTRY_ID = 4


@dataclass(frozen=True, slots=True)
class ShortIds:
    """The true ids of messages and entries, by the short ones."""

    messages: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task) -> ShortIds:
        """Messages are numbered from 1, entries have the beginning of their id."""
        match task:
            case Consolidate():
                return cls(_numbers(task), _beginnings(task.memory))
            case Refresh():
                return cls(_numbers(task))
            case Tidy():
                return cls(entries=_beginnings(task.memory))
            case _:
                return cls()

    def shortened(self, task: Task) -> Task:
        """The task as a model is to see it."""
        match task:
            case Consolidate():
                numbered = replace(task, window=_numbered(task))
                return replace(numbered, memory=self._named(task.memory))
            case Refresh():
                return replace(task, window=_numbered(task))
            case Tidy():
                return replace(task, memory=self._named(task.memory))
            case _:
                return task

    def restored(self, answer: Answer) -> Answer:
        """The answer with the true ids."""
        match answer:
            case Consolidated():
                return self._consolidated(answer)
            case Tidied():
                return self._tidied(answer)
            case _:
                return answer

    def _named(self, memory: Iterable[KnownEntry]) -> tuple[KnownEntry, ...]:
        short = {true: name for name, true in self.entries.items()}
        return tuple(replace(entry, id=short[entry.id]) for entry in memory)

    def _consolidated(self, answer: Consolidated) -> Consolidated:
        learned = tuple(
            replace(
                item,
                sources=_true(item.sources, self.messages),
                replaces=_true(item.replaces, self.entries),
            )
            for item in answer.learned
        )
        history = tuple(self._sourced(bullet) for bullet in answer.history)
        return replace(answer, learned=learned, history=history, over=self._of_entry(answer.over))

    def _sourced(self, bullet: Bullet) -> Bullet:
        return replace(bullet, sources=_true(bullet.sources, self.messages))

    def _tidied(self, answer: Tidied) -> Tidied:
        merge = tuple(replace(each, ids=_true(each.ids, self.entries)) for each in answer.merge)
        return Tidied(
            merge,
            self._of_entry(answer.move),
            self._of_entry(answer.drop),
            self._of_entry(answer.reword),
        )

    def _of_entry(self, changes: Iterable[_OfEntry]) -> tuple[_OfEntry, ...]:
        """Changes of one entry each, under its true id."""
        return tuple(replace(each, id=self.entries[each.id]) for each in changes)


def _numbers(task: Consolidate | Refresh) -> dict[str, str]:
    return {str(place): message.id for place, message in enumerate(task.window, 1)}


def _numbered(task: Consolidate | Refresh) -> tuple[Message, ...]:
    return tuple(replace(each, id=str(place)) for place, each in enumerate(task.window, 1))


def _beginnings(memory: Iterable[KnownEntry]) -> dict[str, str]:
    """The ids by as much of their beginnings as tells each from the others, and from a number."""
    ids = dict.fromkeys(entry.id for entry in memory)
    length = _SHORTEST_ENTRY_ID
    longest = max(map(len, ids), default=0)
    while length < longest and not _are_distinct([name[:length] for name in ids]):
        length += 1
    return {name[:length]: name for name in ids}


def _are_distinct(names: list[str]) -> bool:
    # Digits alone would read like the number of a message.
    return len(set(names)) == len(names) and not any(name.isdigit() for name in names)


def _true(names: Iterable[str], ids: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(ids[name] for name in names)
