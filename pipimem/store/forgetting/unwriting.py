"""The journal's texts as if some words had never stood in them: undo goes on working on either side of a forgetting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipimem.errors import JournalError
from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.store.commits.desk import KEPT, Desk
from pipimem.store.forgetting.needles import Needles, document_without
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.text.markdown import parsed
from pipimem.text.splices import reversed_splices, spliced, splices_between


@dataclass(frozen=True, slots=True)
class Unwritten:
    """The past without some words, as far back as the texts are known.

    By record and file the `changes` that are other ones; by file the `etags` of its texts, and what they are without
    the words.
    """

    changes: Mapping[int, Mapping[File, FileChange]] = field(default_factory=dict)
    etags: Mapping[File, Mapping[str, str]] = field(default_factory=dict)


def unwritten(desk: Desk, needles: Needles) -> Unwritten:
    """The past of a channel's notes without the needles."""
    try:
        records = list(desk.state.journal.records())
    except JournalError:  # what it holds is then blanked line by line, and cannot be undone
        return Unwritten()
    found: dict[int, dict[File, FileChange]] = defaultdict(dict)
    etags: dict[File, dict[str, str]] = defaultdict(dict)
    for file in KEPT:
        cleaning = _Cleaning(needles, desk.key)
        text: str | None = desk.on_disk(file)
        for record in reversed(records):
            if file in record.files:
                text = _unwritten(desk, record, file, text, cleaning, found[record.sequence], etags[file])
    return Unwritten(found, etags)


@dataclass(slots=True)
class _Cleaning:
    """Texts without the needles."""

    needles: Needles
    key: bytes
    _held: dict[str, bool] = field(default_factory=dict)
    _done: dict[str, str] = field(default_factory=dict)

    def of(self, text: str) -> str:
        """The text without them."""
        if text not in self._done:
            # Two at a time are asked for: before and after a change.
            if len(self._done) > 1:
                self._done.pop(next(iter(self._done)))
            self._done[text] = document_without(parsed(text), self.needles, self.key, self._held)[0]
        return self._done[text]


def _unwritten(
    desk: Desk, record: JournalRecord, file: File, text: str | None, cleaning: _Cleaning,
    found: dict[File, FileChange], etags: dict[str, str],
) -> str | None:  # fmt: skip
    """Notes the change without the needles, and answers with the text before it; `None` where nobody knows it."""
    change = record.files[file]
    after = _known(desk, file, change.after, text, cleaning)
    before = None if after is None else _before(desk, file, change, after)
    if after is None or before is None:
        return before
    old, new = cleaning.of(before), cleaning.of(after)
    etags |= {change.before: etag(old), change.after: etag(new)}
    if (old, new) != (before, after):
        # The etag of a person's text that was merged would be a mark of its words.
        splices = splices_between(old, new)
        found[file] = replace(change, before=etag(old), after=etag(new), splices=splices, found="", found_splices=())
    return before


def _known(desk: Desk, file: File, mark: str, text: str | None, cleaning: _Cleaning) -> str | None:
    """The text with an etag: the one at hand, itself or cleaned (a forgetting that was cut off), or a version."""
    if text is not None and etag(text) == mark:
        return text
    if text is not None and etag(cleaning.of(text)) == mark:
        return cleaning.of(text)
    return desk.state.versions.text(file, mark)


def _before(desk: Desk, file: File, change: FileChange, after: str) -> str | None:
    try:
        return spliced(after, reversed_splices(change.splices))
    except ValueError:  # an older forgetting blanked it
        return desk.state.versions.text(file, change.before)
