"""How much of what a channel keeps holds what is to be forgotten, and the record that says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.notes.files import NOTE_FILES, File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger
from pipimem.notes.operations import Author, Change, Progress
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import appended_files
from pipimem.store.disk.files import own_text, read_text
from pipimem.store.forget.clean_arrivals import held_arrivals
from pipimem.store.forget.cleaning import blanked, quotes
from pipimem.store.forget.plan import Plan
from pipimem.store.forget.targets import ForgetTargets, blanked_ledger, without
from pipimem.store.forget.verify import traces
from pipimem.store.journal.records import FORGET, FileChange, JournalRecord
from pipimem.store.transcript.log import Transcript

_KINDS = ("entries", "archive", "versions", "messages", "arrivals", "journal", "ledger", "usage")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The receipt of a forgetting: how much held the words, by kind of place and by file."""

    counts: dict[str, int]
    places: dict[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing held them."""
        return not self.places


def receipt_of(working_copy: WorkingCopy, log: Transcript, plan: Plan) -> Forgotten:
    """How much holds the targets of a plan right now."""
    counts, places = dict.fromkeys(_KINDS, 0), {}
    for kind, place, count in _held(working_copy, log, plan):
        if count:
            counts[kind] += count
            places[place] = count
    return Forgotten(counts, places)


def _held(working_copy: WorkingCopy, log: Transcript, plan: Plan) -> Iterator[tuple[str, str, int]]:
    """How much of each place holds the targets: kind, place, count."""
    state, targets = working_copy.state, plan.targets
    for file in NOTE_FILES:
        yield "entries", str(file), held_in_text(working_copy, file, targets)
    yield "archive", str(File.ARCHIVE), held_in_text(working_copy, File.ARCHIVE, targets)
    for file in File:
        for path in state.versions.paths(file):
            is_held = targets.are_in_a_line_of(own_text(path) or "")
            yield "versions", f".pipimem/versions/{path.name}", int(is_held)
    if not plan.keep_transcript:
        yield from _held_in_talk(working_copy, log, targets)
    for part in state.journal.parts():
        yield "journal", f".pipimem/{part.name}", _held_in_journal(part, targets)
    is_held = blanked_ledger(state.ledger, targets) != state.ledger
    yield "ledger", ".pipimem/ledger.json", int(is_held)
    for path, found in quotes(working_copy.root / ".pipimem", targets).items():
        yield "usage", f"workspace/.pipimem/{path.name}", len(found)


def held_in_text(working_copy: WorkingCopy, file: File, targets: ForgetTargets) -> int:
    """How many entries of a file hold a target; 1 where only other lines of it do."""
    text = read_text(working_copy.path(file), working_copy.root) or ""
    kept, removed = without(text, targets, working_copy.key)
    return max(len(removed), int(kept != text))


def _held_in_talk(
    working_copy: WorkingCopy, log: Transcript, targets: ForgetTargets
) -> Iterator[tuple[str, str, int]]:
    """Of what was said, and of what a bot acknowledged and would store at its next start."""
    for part in log.parts():
        lines = appended_files.lines(part)
        yield "messages", part.name, sum(blanked(line, targets) != line for line in lines)
    for path, count in held_arrivals(working_copy, targets).items():
        # Of its own: a message that was stored a moment ago may stand here as well.
        yield "arrivals", f"workspace/.pipimem/{path.name}", count


def _held_in_journal(part: Path, targets: ForgetTargets) -> int:
    """How many lines of a file of the journal hold a target, escaped as they are."""
    lines: set[int] = set()
    for text in targets.texts:
        found = traces([part], text, inside_words=targets.inside_words)
        lines.update(trace.line for trace in found)
    return len(lines)


def changes_of(files: Iterable[File]) -> tuple[Change, ...]:
    """One for each file that held it; none says what it was."""
    return tuple(Change("forgotten", file) for file in files)


def record_of(ledger: Ledger, plan: Plan, receipt: Forgotten, now: datetime) -> JournalRecord:
    """The record that ends a forgetting and that the new journal begins with.

    It says how much was removed, and has the ledger.
    """
    held = ", ".join(f"{count} in {place}" for place, count in receipt.counts.items() if count)
    progress = Progress(**{name: getattr(ledger, name) for name in PROGRESSED})
    records, tombstones = dict(ledger.records), dict(ledger.tombstones)
    return JournalRecord(
        ledger.sequence + 1,
        now.isoformat(timespec="seconds"),
        FORGET,
        Author.PERSON,
        plan.actor,
        held,
        changes=changes_of(file for file in File if str(file) in receipt.places),
        files={File(name): FileChange(mark, mark, ()) for name, mark in ledger.etags.items()},
        delta=Delta(records, tombstones, ledger.jobs, progress, forgets_asked=True),
    )
