"""The texts that stood in one file of a channel: what each change made of the one before, then the versions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.store.commits.ancestry import Known, Stood
from pipimem.store.journal.records import FileChange
from pipimem.store.journal.versions import NAME_LENGTH, Versions
from pipimem.text.line_counts import Lines, more_lines, step_back
from pipimem.text.splices import Splice, reversed_splices, spliced

# Then they are gathered anew from the changes at hand.
_MOST_REMOVED = 5_000


@dataclass(slots=True)
class Lineage:
    """What was found out about the texts of one file, so that it is found out once.

    To make a text of 5,000 entries from the next one takes a millisecond, to check it another. So each is told by its
    lines that differ, and made only where it turns out to be wanted.
    """

    file: File
    versions: Versions
    # How many more of each line a version has than the text of the mark, by its name.
    _mark: str = ""
    _more: dict[str, Lines] = field(default_factory=dict)
    # Changes that do not lead back: something was forgotten in them since.
    _lost: set[tuple[str, str]] = field(default_factory=set)
    # Lines that changes took out, some of them so long ago that it does not matter: no other came back in older texts.
    _removed: set[str] = field(default_factory=set)

    def follow(self, change: FileChange) -> None:
        """Keeps up with one more change of the file."""
        if change.before != self._mark or len(self._removed) > _MOST_REMOVED:
            self._forget()
        for more in self._more.values():
            step_back(more, change.splices)
        self._mark = change.after
        if self._removed:
            self._removed.update(_taken_out(change))

    def stood(
        self, mark: str, left: str | None, changes: Sequence[FileChange], unread: Container[str], newest: bool | None,
        before: str, known: Known,
    ) -> Iterator[Stood]:  # fmt: skip
        """As `State.stood`: from the text `left`, of the etag `mark`, back through the changes, the newest last."""
        if mark != self._mark:
            self._forget()
            self._mark = mark
        is_older, passed = not before, {mark[:NAME_LENGTH]}
        if left is not None:
            yield Stood(left, newest if is_older else None)
        nearby = left if is_older and newest is not None else None
        line, step, is_over = _Line(left or "", self._lost), list[Splice](), False
        for change in reversed(changes) if left is not None else ():
            if change.after != mark or (self._lost and (change.before, change.after) in self._lost):
                break
            is_older = is_older or mark.startswith(before)
            mark = change.before
            passed |= {mark[:NAME_LENGTH], change.found[:NAME_LENGTH]}
            if change.found and is_older:
                yield from self._kept(change.found[:NAME_LENGTH], nearby)
            if is_over := is_over or self._has_always_lacked(known.lacking, changes):
                known.left_out += _taken_out(change)
                continue
            line.back.append(change)
            step += change.splices
            if is_older and not change.unseen:
                yield Stood(partial(line.text, len(line.back)), mark not in unread, tuple(step))
                step.clear()
        for name in self.versions.names(self.file):
            if name not in passed:
                yield from self._kept(name, nearby)

    def _forget(self) -> None:
        self._more.clear()
        self._removed.clear()

    def _has_always_lacked(self, line: str, changes: Iterable[FileChange]) -> bool:
        """Whether all the texts before one that lacks a line lack it, too: no change ever took it out."""
        if line and not self._removed:
            self._removed = {gone for change in changes for gone in _taken_out(change)} | {""}
        return line != "" and line not in self._removed

    def _kept(self, name: str, newest: str | None) -> Iterator[Stood]:
        """A version, where it is whole; told by what it has more than the newest text, where that stood there."""
        more = self._more.get(name) if newest is not None else None
        if more is None:
            text = self.versions.text(self.file, name)
            if text is None:
                return
            if newest is None:
                yield Stood(text, was_seen=True)
                return
            more = self._more[name] = more_lines(text, newest)
        yield Stood(partial(self._version, name), was_seen=True, step=more)

    def _version(self, name: str) -> str | None:
        text = self.versions.text(self.file, name)
        if text is None:
            self._more.pop(name, None)
        return text


@dataclass(slots=True)
class _Line:
    """The texts that changes lead back to from the newest, made where they are asked for."""

    newest: str
    lost: set[tuple[str, str]]
    back: list[FileChange] = field(default_factory=list)
    _last: tuple[int, str] = (0, "")

    def text(self, steps: int) -> str | None:
        """The text so many changes ago."""
        at, text = self._last if 0 < self._last[0] <= steps else (0, self.newest)
        for change in self.back[at:steps]:
            before = text_before(text, change)
            if before is None:
                self.lost.add((change.before, change.after))
                return None
            text = before
        self._last = steps, text
        return text


def _taken_out(change: FileChange) -> Iterator[str]:
    return (line.strip() for splice in change.splices for line in splice.removed)


def text_before(text: str, change: FileChange) -> str | None:
    """The text before a change, `None` where something was forgotten in it since."""
    try:
        before = spliced(text, reversed_splices(change.splices))
    except ValueError:
        return None
    return before if etag(before) == change.before else None
