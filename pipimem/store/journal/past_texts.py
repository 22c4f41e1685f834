"""The texts that stood in a file, newest first, as the journal and the kept versions tell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pipimem.notes.kinds import File
from pipimem.store.journal.records import FileChange
from pipimem.store.journal.state import State
from pipimem.store.journal.text_versions import NAME_LENGTH
from pipimem.store.merge.forgotten_lines import without_placeholders
from pipimem.store.merge.merge_base import PastText
from pipimem.text.markdown.line_edits import reversed_splices, spliced_lines
from pipimem.text.markdown.lines import split_lines


def past_texts(
    state: State, file: File, *, is_placed: bool = True, before: str = ""
) -> Iterator[PastText]:
    """The texts that stood in a file, newest first, as far back as journal and versions tell.

    Without `is_placed` the newest text of the journal has not reached the file. With `before`, the
    first digits of an etag, only texts older than that one.
    """
    passed: set[str] = set()
    yield from _without_beginning(_from_journal(state, file, is_placed, before, passed))
    for name in state.versions.names(file):
        text = None if name in passed else state.versions.text(file, name)
        if text is not None:
            yield _kept(split_lines(text))


def replaced_by(state: State, file: File, mark: str) -> frozenset[str]:
    """The etags of the texts that the one of this etag, or its first digits, may replace."""
    marks: set[str] = set()
    is_older = False
    for change in reversed(state.recent_changes(file)):
        is_older = is_older or change.after.startswith(mark)
        if is_older:
            marks |= {change.before, change.found}
            if not change.unseen:
                break
    return frozenset(marks)


def _from_journal(
    state: State, file: File, is_placed: bool, before: str, passed: set[str]
) -> Iterator[PastText]:
    """Those that the journal leads back to; the beginnings of all their etags go to `passed`."""
    mark = state.ledger.etags.get(file, "")
    passed.add(mark[:NAME_LENGTH])
    text = state.known_text(file, "")
    if text is None:
        return
    lines = split_lines(text)
    is_older = not before
    if is_placed and is_older:
        yield PastText(lines)
    for change in _chained(state.recent_changes(file), mark):
        is_older = is_older or change.after.startswith(before)
        passed |= {change.before[:NAME_LENGTH], change.found[:NAME_LENGTH]}
        try:
            if is_older:
                yield from _saved(state, file, change, lines)
            lines = spliced_lines(lines, reversed_splices(change.splices))
        except ValueError:  # something was forgotten in it since
            return
        if is_older and not change.unseen:
            yield PastText(lines)


def _chained(changes: Sequence[FileChange], mark: str) -> Iterator[FileChange]:
    """The changes that lead back from the text of an etag, the newest first."""
    for change in reversed(changes):
        if change.after != mark:
            return
        yield change
        mark = change.before


def _saved(
    state: State, file: File, change: FileChange, after: tuple[str, ...]
) -> Iterator[PastText]:
    """The text of a person's that a change merged, if any; `after` are the lines it led to."""
    if change.found_splices or change.found == change.after:
        yield _kept(spliced_lines(after, change.found_splices), is_saved=True)
    elif change.found:
        text = state.versions.text(file, change.found)  # a record of pipimem 0.1
        if text is not None:
            yield _kept(split_lines(text), is_saved=True)


def _without_beginning(past: Iterable[PastText]) -> Iterator[PastText]:
    """The texts but for one without a line at the end.

    So a file begins, and nothing is from before it was emptied.
    """
    blank: PastText | None = None
    for number, each in enumerate(past):
        if blank is not None:
            yield blank
        is_blank = number > 0 and not any(map(str.strip, each.lines))
        blank = each if is_blank else None
        if blank is None:
            yield each


def _kept(lines: tuple[str, ...], *, is_saved: bool = False) -> PastText:
    """The text of a version or a record, which may have placeholders."""
    plain = without_placeholders(lines)
    return PastText(plain, is_saved, () if len(plain) == len(lines) else lines)
