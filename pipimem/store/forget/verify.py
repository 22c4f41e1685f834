"""Proof of a forgetting: where a text is still found in files, and the receipt of counts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger
from pipimem.notes.operations import Author, Change, Progress
from pipimem.state.changes import FORGET, ChangeRecord
from pipimem.state.sqlite import SqliteDatabase
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files, presence
from pipimem.store.disk.files import read_text
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.forget.log_lines import blanked
from pipimem.store.forget.plan import Plan
from pipimem.store.forget.targets import (
    ForgetTargets,
    blanked_ledger,
    without,
)
from pipimem.store.transcript.log import Transcript
from pipimem.store.workspace_state import WORKSPACE

_KINDS = ("entries", "archive", "versions", "messages", "changes", "ledger")


class Forgotten(Struct, frozen=True):
    """The receipt of a forgetting: how much held the words, by kind of place and by file."""

    counts: dict[str, int]
    places: dict[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing held them."""
        return not self.places


def receipt_of(working_copy: WorkingCopy, log: Transcript, plan: Plan) -> Forgotten:
    """How much holds the targets of a plan right now."""
    counts = dict.fromkeys(_KINDS, 0)
    places: dict[str, int] = {}
    for kind, place, count in _held(working_copy, log, plan):
        if count:
            counts[kind] += count
            places[place] = places.get(place, 0) + count
    return Forgotten(counts, places)


def _held(working_copy: WorkingCopy, log: Transcript, plan: Plan) -> Iterator[tuple[str, str, int]]:
    """How much of each place holds the targets: kind, place, count."""
    state, targets = working_copy.state, plan.targets
    for file in NOTE_FILES:
        yield "entries", str(file), held_in_text(working_copy, file, targets)
    yield "archive", str(File.ARCHIVE), held_in_text(working_copy, File.ARCHIVE, targets)
    held = state.held_by(targets.are_in_a_line_of)
    for kind, count in held.items():
        yield kind, ".pipimem/state.db", count
    for part in () if plan.keep_transcript else log.files():
        lines = appended_files.lines(part)
        yield "messages", part.name, sum(blanked(line, targets) != line for line in lines)
    is_held = blanked_ledger(state.ledger, targets) != state.ledger
    yield "ledger", ".pipimem/state.db", int(is_held)


def held_in_text(working_copy: WorkingCopy, file: File, targets: ForgetTargets) -> int:
    """How many entries of a file hold a target; 1 where only other lines of it do."""
    text = read_text(working_copy.path(file), working_copy.root) or ""
    kept, removed = without(text, targets, working_copy.key)
    return max(len(removed), int(kept != text))


def changes_of(files: Iterable[File]) -> tuple[Change, ...]:
    """One for each file that held it; none says what it was."""
    return tuple(Change("forgotten", file) for file in files)


def record_of(ledger: Ledger, plan: Plan, receipt: Forgotten, now: datetime) -> ChangeRecord:
    """Return the change that ends a forgetting, which is the first that is kept then.

    It says how much was removed, and has the ledger.
    """
    held = ", ".join(f"{count} in {place}" for place, count in receipt.counts.items() if count)
    progress = Progress(**{name: getattr(ledger, name) for name in PROGRESSED})
    records, tombstones = dict(ledger.records), dict(ledger.tombstones)
    return ChangeRecord(
        ledger.sequence + 1,
        now.isoformat(timespec="seconds"),
        FORGET,
        Author.PERSON,
        plan.actor,
        held,
        changes=changes_of(file for file in File if str(file) in receipt.places),
        delta=Delta(records, tombstones, ledger.jobs, progress, forgets_asked=True),
    )


# What JSON, and other writers of it than ours, make of a character.
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_BETWEEN = re.compile(r'(?<!\\)", ?"')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Editors of other systems save so; the byte order mark is not needed to tell.
_WIDE = ("utf-16-le", "utf-16-be")
# SQLite reads it: whoever else closes the file drops the locks of this process on it.
_DATABASE = re.compile(r"state(~.*)?\.db")


class Trace(Struct, frozen=True):
    """A file and a line where the text stands; 0 where it runs over lines or is in the name."""

    path: Path
    line: int


def traces(folders: Iterable[Path], text: str, *, inside_words: bool = False) -> Iterator[Trace]:
    """Yields where a text stands in some files, or in the files below some folders.

    White space, case, width and bullets do not matter; it is also found where it is escaped as in
    JSON, cut into a JSON list of lines, or in UTF-16. `inside_words` is as in `stands_in`; in a
    file that is no UTF-8 it is always on. Raises `StoreError`.
    """
    search = _Search(text, ForgetTargets.of([text], inside_words=inside_words))
    if not search.targets.texts:
        return
    for folder in folders:
        for path in _files_in(folder):
            if search.targets.are_in(path.name):
                yield Trace(path, 0)
            if _DATABASE.fullmatch(path.name):
                if search.lines_in(SqliteDatabase(path, WORKSPACE).contents()):
                    yield Trace(path, 0)
            elif presence.is_file(path):
                with store_errors("read", path):
                    data = path.read_bytes()
                for line in search.lines_in(data):
                    yield Trace(path, line)


def _files_in(folder: Path) -> list[Path]:
    """The files and links below a folder; a file is its own only one."""
    with store_errors("read", folder):
        below = [folder] if presence.is_file(folder) else folder.rglob("*")
        return sorted(path for path in below if presence.is_file(path) or presence.is_link(path))


class _Search(Struct, frozen=True):
    """A text that is looked for, as given and folded."""

    text: str
    targets: ForgetTargets

    def lines_in(self, data: bytes) -> list[int]:
        """The numbers of the lines that hold it; `[0]` where only the file as a whole does."""
        content = data.decode("utf-8", "replace")
        search = self
        if "\ufffd" in content:
            search = _Search(self.text, replace(self.targets, inside_words=True))
        contents = [content]
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            contents.append(data.decode("utf-16", "replace"))
        for each in contents:
            found = search._lines_of(each)
            if found:
                return found
        is_whole = any(search._holds(each) for each in contents)
        is_wide = any(self.text.encode(name, "surrogatepass") in data for name in _WIDE)
        return [0] if is_whole or is_wide else []

    def _lines_of(self, content: str) -> list[int]:
        # Line by line it takes ten times as long, and most files are past texts without it.
        if "\\" not in content and not self.targets.are_in(content):
            return []
        lines = enumerate(content.split("\n"), start=1)
        return [number for number, line in lines if self._holds(line)]

    def _holds(self, text: str) -> bool:
        """Whether a text holds it, as it is or as JSON, where lines are a list of strings."""
        readings = [text]
        if "\\" in text:
            readings += [_unescaped(text), _unescaped(_BETWEEN.sub("", text))]
        return any(map(self.targets.are_in, readings))


def _unescaped(line: str) -> str:
    return _ESCAPE.sub(_character, line)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _PLAIN.get(escape[2], escape[2])
