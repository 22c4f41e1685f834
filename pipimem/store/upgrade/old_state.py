"""What the files of formats 1 and 2 say of a channel, in the form that its state has now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.kinds import NOTE_FILES, File, etag
from pipimem.notes.ledger import Ledger
from pipimem.state.changes import FORGET, ChangeRecord, FileChange
from pipimem.state.texts import Texts
from pipimem.store.disk.appended_files import parts
from pipimem.store.disk.files import own_text, regular_text, resolved, temporary_for
from pipimem.store.disk.presence import exists
from pipimem.store.disk.syscalls import read_if_there
from pipimem.store.upgrade.old_journal import OldChange, OldFileChange, OldJournal, read_journal
from pipimem.text import json_lines
from pipimem.text.dates.bounds import local
from pipimem.text.json_codec import CodecError, decoded
from pipimem.text.markdown.line_edits import reversed_splices, spliced, spliced_lines
from pipimem.text.markdown.lines import split_lines

JOURNAL = "journal.jsonl"
LEDGER = "ledger.json"
VERSIONS = "versions"
TAG_LENGTH = 16
"""The digits of an etag in the name of a version, or of a prepared text."""
CLOSED = (
    b"The state of this channel is kept in state.db since pipimem 0.3.\n"
    b"An older pipimem must not write here: update it.\n"
)
"""What is in the place of the journal of a channel that was taken over.

An older pipimem may have looked at `channel.json` just before, and wait for the lock. It takes
these lines for damage, writes nothing, looks at `channel.json` again, and refuses the channel.
"""
# As many changes as a person's edit was compared with; what is taken over is written at once.
_MOST_CHANGES = 200
_LINE = "line:"
_PLACEHOLDER = "\0"


class _Place(Struct, frozen=True):
    journal: str = ""


class _Checkpoint(Struct, frozen=True):
    """The file `ledger.json`; of format 1 the ledger's fields stand among its own."""

    ledger: Ledger
    etags: Mapping[str, str] = {}
    texts: Mapping[str, str] = {}
    place: _Place = _Place()


class OldState(Struct, frozen=True):
    """The state of a channel: its ledger, its newest changes, and the texts that they name.

    `heads` are the newest texts of the files by name. Where changes are lost (`is_cut`) there are
    none: the texts that stand in the files count. `forgotten` has when each forgotten line was
    forgotten, by its mark, in nanoseconds since 1970.
    """

    ledger: Ledger
    changes: Sequence[ChangeRecord]
    heads: Mapping[File, str]
    texts: frozenset[str]
    forgotten: Mapping[str, int]
    is_cut: bool


def old_parts(own: Path) -> list[Path]:
    """Return the parts of a journal of an older format in a channel's `.pipimem/`, oldest first."""
    return [part for part in parts(own / JOURNAL) if not is_closed(part)]


def is_closed(part: Path) -> bool:
    """Whether a file is what a takeover leaves in the place of the journal."""
    return part.name == JOURNAL and part.stat().st_size == len(CLOSED)


def has_old_state(own: Path) -> bool:
    """Whether a channel's `.pipimem/` has a state of an older format."""
    return exists(own / LEDGER) or bool(old_parts(own))


def read_old_state(folder: Path, root: Path, texts: Texts) -> OldState:
    """Read the state of an older format in a channel's folder. Nothing is written."""
    own = folder / ".pipimem"
    journal = read_journal(old_parts(own))
    checkpoint = _read_checkpoint(own / LEDGER)
    ledger, etags, is_cut = _fold(checkpoint, journal)
    forgotten = {name.removeprefix(_LINE) for name in ledger.tombstones if name.startswith(_LINE)}
    tombstones = {
        name: stone for name, stone in ledger.tombstones.items() if not name.startswith(_LINE)
    }
    past = _Past(folder, root, texts, journal.changes, checkpoint)
    heads = {} if is_cut else past.newest_texts(etags)
    changes = [] if is_cut else past.converted(heads)
    # A forgetting began the journal anew, so it is the first change that is kept.
    times = [_nanoseconds(each.time) for each in changes if each.task == FORGET]
    marks = dict.fromkeys(forgotten, times[-1]) if times else {}
    ledger = replace(ledger, tombstones=tombstones)
    return OldState(ledger, changes, heads, frozenset(past.named), marks, is_cut)


def _nanoseconds(time: str) -> int:
    return int(local(datetime.fromisoformat(time)).timestamp() * 10**9)


def _read_checkpoint(path: Path) -> _Checkpoint | None:
    """Read `ledger.json`; `None` where there is none that can be read: the journal has it all."""
    data = read_if_there(path)
    if data is None:
        return None
    value = json_lines.checked_value(data)
    if value is None:
        value = json_lines.value(data)
        if value is None or value.get("format") != 1:
            return None
        value = {"ledger": value, "texts": value.get("texts", {})}
    ledger = value.get("ledger")
    if isinstance(ledger, dict):
        value["etags"] = ledger.get("etags", {})
    try:
        return decoded(_Checkpoint, value)
    except CodecError:
        return None


def _fold(
    checkpoint: _Checkpoint | None, journal: OldJournal
) -> tuple[Ledger, dict[File, str], bool]:
    """Return the ledger, the etags of the newest texts, and whether changes are lost.

    A journal of another channel, or of an earlier time, tells nothing.
    """
    known = checkpoint or _Checkpoint(Ledger())
    ledger = known.ledger
    etags = {File(name): mark for name, mark in known.etags.items()}
    if checkpoint and _is_another(checkpoint, journal):
        return ledger, etags, True
    fresh = [each for each in journal.changes if each.record.sequence > ledger.sequence]
    is_cut = _lacks_changes(checkpoint, journal, fresh)
    for change in fresh:
        ledger = ledger.after(change.record.delta, change.record.sequence)
        etags |= {file: each.after for file, each in change.files.items()}
    return ledger, etags, is_cut


def _lacks_changes(
    checkpoint: _Checkpoint | None, journal: OldJournal, fresh: Sequence[OldChange]
) -> bool:
    """Whether changes between the checkpoint and the end of the journal are lost.

    `fresh` are those that come behind the checkpoint. What is damaged before it costs undo alone.
    """
    numbers = [change.record.sequence for change in fresh]
    if checkpoint is None:
        first = numbers[0] if numbers else 1
        return journal.damage is not None or numbers != [*range(first, first + len(numbers))]
    first = checkpoint.ledger.sequence + 1
    if journal.damage == len(journal.changes):
        return True
    reached = journal.changes[-1].record.sequence if journal.changes else first
    return reached < first - 1 or numbers != [*range(first, first + len(numbers))]


def _is_another(checkpoint: _Checkpoint, journal: OldJournal) -> bool:
    """Whether a journal has not the part that the checkpoint was made of, nor goes on from it."""
    name, sequence = checkpoint.place.journal, checkpoint.ledger.sequence
    if not name or name in journal.names or not journal.changes:
        return False
    first = journal.changes[0].record
    return first.sequence != sequence + 1 and (first.task != FORGET or first.sequence < sequence)


@dataclass(slots=True)
class _Past:
    """The texts of a channel's files, told by splices, versions, and what lies there."""

    folder: Path
    root: Path
    texts: Texts
    changes: Sequence[OldChange]
    checkpoint: _Checkpoint | None
    # The texts that the converted changes name.
    named: set[str] = field(default_factory=set)

    def newest_texts(self, etags: Mapping[File, str]) -> dict[File, str]:
        """Return the text of each file that the newest change left, where it can be told."""
        found = {file: self._text(file, etags[file]) for file in NOTE_FILES if file in etags}
        return {file: text for file, text in found.items() if text is not None}

    def converted(self, heads: Mapping[File, str]) -> list[ChangeRecord]:
        """Return the newest changes as they are kept now, as far as all their texts are known."""
        self.named.update(heads.values())
        lines = {file: split_lines(text) for file, text in heads.items()}
        kept: list[tuple[OldChange, dict[File, FileChange]]] = []
        for change in reversed(self.changes[-_MOST_CHANGES:]):
            is_next = not kept or change.record.sequence == kept[-1][0].record.sequence - 1
            files = self._file_changes(change, lines) if is_next else None
            if files is None:
                break
            kept.append((change, files))
        return _with_displaced(kept[::-1])

    def _file_changes(
        self, change: OldChange, lines: dict[File, tuple[str, ...]]
    ) -> dict[File, FileChange] | None:
        """Go back behind a change; `None` where the texts do not lead there."""
        found: dict[File, FileChange] = {}
        for file, each in change.files.items():
            after = "".join(lines.get(file, ()))
            if file not in lines or etag(after) != each.after:
                return None
            saved = self._saved(file, each, lines[file])
            try:
                lines[file] = spliced_lines(lines[file], reversed_splices(each.splices))
            except ValueError:
                return None
            before = "".join(lines[file])
            self.named |= {before, after} if saved is None else {before, after, saved}
            mark = "" if saved is None else self.texts.etag(saved)
            found[file] = FileChange(self.texts.etag(before), self.texts.etag(after), mark, mark)
        return found

    def _saved(self, file: File, change: OldFileChange, after: tuple[str, ...]) -> str | None:
        """Return the text of a person's that a change merged, without what was forgotten since."""
        if not change.found:
            return None
        if change.found_splices or change.found == change.after:
            try:
                lines = spliced_lines(after, change.found_splices)
            except ValueError:
                return None
        else:
            lines = split_lines(self._stored(file, change.found) or "")  # pipimem 0.1
        return "".join(line for line in lines if _PLACEHOLDER not in line)

    def _text(self, file: File, mark: str) -> str | None:
        """Return the text of an etag, made of the newest stored one if it is not stored itself."""
        text = self._stored(file, mark)
        if text is not None:
            return text
        changes = [change.files[file] for change in self.changes if file in change.files]
        for start in reversed(range(len(changes))):
            text = self._stored(file, changes[start].before)
            if text is not None:
                return _spliced_to(mark, text, changes[start:])
        return None

    def _stored(self, file: File, mark: str) -> str | None:
        """Return the text of an etag if it lies somewhere whole."""
        target = resolved(self.folder / file, self.root)
        checkpoint = self.checkpoint.texts.get(file) if self.checkpoint else None
        version = self.folder / ".pipimem" / VERSIONS / f"{file}.{mark[:TAG_LENGTH]}"
        for text in ("", checkpoint):
            if text is not None and etag(text) == mark:
                return text
        for path in (target, version, temporary_for(target, mark[:TAG_LENGTH])):
            text = own_text(path) if path == version else regular_text(path)
            if text is not None and etag(text) == mark:
                return text
        return None


def _spliced_to(wanted: str, text: str, changes: Sequence[OldFileChange]) -> str | None:
    """Return the text of an etag that the first of these changes leads to; `None` if none does."""
    for change in changes:
        try:
            text = spliced(text, change.splices)
        except ValueError:
            return None
        if change.after == wanted:
            return text if etag(text) == wanted else None
    return None


def _with_displaced(
    changes: Sequence[tuple[OldChange, Mapping[File, FileChange]]],
) -> list[ChangeRecord]:
    """Return the changes with what they displaced, and with which texts never stood in a file."""
    converted: list[ChangeRecord] = []
    # By file, what stood in it when its newest text was made, and where that change is.
    displaced: dict[File, tuple[str, int]] = {}
    for number, (change, files) in enumerate(changes):
        done: dict[File, FileChange] = {}
        for file, each in files.items():
            stood = each.saved or each.before
            if change.files[file].unseen and file in displaced:
                before, place = displaced[file]
                stood = each.saved or before
                former = converted[place].files
                hidden = {file: replace(former[file], on_disk=False)}
                converted[place] = replace(converted[place], files={**former, **hidden})
            done[file] = replace(each, displaces=stood)
            displaced[file] = stood, number
        converted.append(replace(change.record, files=done))
    return converted
