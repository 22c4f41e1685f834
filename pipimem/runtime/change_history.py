"""What a channel's changes say: who wrote an entry, and what changed between two moments."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.notes.kinds import File
from pipimem.notes.operations import Author, Trust
from pipimem.store.commit.past import Past, Point
from pipimem.store.history.blame import Origin
from pipimem.store.history.undo import Undone, edits_after
from pipimem.store.journal.records import JournalRecord
from pipimem.text.markdown.lines import split_lines, without_ending

__all__ = [
    "JournalRecord",
    "Origin",
    "Past",
    "Point",
    "Undone",
    "edits_after",
    "moment",
    "unified",
    "wrote",
]


def wrote(one: Origin) -> tuple[str, str]:
    """Who said or wrote an entry, and when it was said, else written down."""
    said = one.record.when if one.record else ""
    return _who(one), said or (one.change.time if one.change else "")


def _who(one: Origin) -> str:
    """The speaker, else who made the change."""
    is_human = one.record is None or one.record.trust is Trust.HUMAN
    if one.record and one.record.speaker and not is_human:
        return one.record.speaker
    if one.change is None:
        return "by hand" if is_human else "-"
    if one.change.author is Author.EDITOR:
        return "by hand"
    return one.change.actor or str(one.change.author)


def moment(past: Past, sequence: int | None) -> str:
    """A moment of the past for eyes: the change and its time; `None` is now."""
    if sequence is None:
        return "now"
    for change in past.records:
        if change.sequence == sequence:
            return f"after change {sequence} ({change.time})"
    return "before the first change"


def unified(
    past: Past, files: Sequence[File], since: Point | None, until: Point | None
) -> dict[File, str]:
    """The diff of each file between two moments; by default from before the newest change to now.

    Raises `CannotTakeBack` where a text is not known any more, `NothingFound` beyond the journal.
    """
    first = before_newest(past) if since is None else past.sequence_at(since)
    last = None if until is None else past.sequence_at(until)
    return {file: "\n".join(_diff(past, file, first, last)) for file in files}


def before_newest(past: Past) -> int:
    """The number of the change before the newest.

    A hand edit that is in no journal yet is newer than all that are.
    """
    if not past.records:
        return 0
    if past.base != past.current:
        return past.records[-1].sequence
    for one in reversed(past.records):
        if one.files:
            return max(past.begins, one.sequence - 1)
    return past.begins


def _diff(past: Past, file: File, first: int, last: int | None) -> list[str]:
    """The lines of a diff between two changes (`None`: now)."""
    old = past.known_text(file, first)
    new = past.current[file] if last is None else past.known_text(file, last)
    from difflib import unified_diff  # 6 ms that a bot need not take

    before, after = _bare_lines(old), _bare_lines(new)
    if before == after and old != new:
        return [f"--- {file}", f"+++ {file}", "only line ends changed"]
    names = f"{file}  {moment(past, first)}", f"{file}  {moment(past, last)}"
    return list(unified_diff(before, after, *names, lineterm=""))


def _bare_lines(text: str) -> list[str]:
    return [without_ending(line) for line in split_lines(text)]
