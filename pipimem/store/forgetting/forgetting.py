"""A text removed from everything a channel keeps; a crash in between is made good at the next start.

The files are cleaned by a commit like any other. Then the past ends: the journal begins anew with one record that has
the whole ledger. Of the texts before it only what a merge needs stays, as versions without the forgotten lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipimem.errors import StoreError, UnreadableNote
from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import PROGRESSED, Delta, Ledger, Record, Tombstone
from pipimem.notes.notes import Change, Outcome
from pipimem.notes.operations import Author, Decision, Progress
from pipimem.store import transcript
from pipimem.store.caches.caches import drop_texts
from pipimem.store.commits.committing import commit, journal_edits
from pipimem.store.commits.desk import KEPT, Desk, View
from pipimem.store.commits.edits import edit_record
from pipimem.store.commits.forgotten_lines import cleaned
from pipimem.store.commits.placing import is_unfinished, put_in_place
from pipimem.store.commits.recalls import Recalls
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import sync_folder
from pipimem.store.disk.files import own_text, put_whole, read_text, remove, stamp
from pipimem.store.forgetting import archive_cleaning
from pipimem.store.forgetting import plan as plans
from pipimem.store.forgetting.archive_cleaning import clean_archive
from pipimem.store.forgetting.needles import (
    Needles,
    blanked_ledger,
    blanked_message,
    named,
    without,
)
from pipimem.store.forgetting.overwriting import overwrite, quotes
from pipimem.store.forgetting.past_cleaning import clean_past, keep_past_of_archive
from pipimem.store.forgetting.plan import Plan
from pipimem.store.forgetting.traces import traces
from pipimem.store.journal.placeholders import mark_of, marks_in
from pipimem.store.journal.records import FORGET, FileChange, JournalRecord
from pipimem.store.journal.state import PastText
from pipimem.store.transcript import Transcript

# What an editor saves meanwhile is merged, and may hold the words again. Nobody saves more often than this.
_TRIES = 5
_KINDS = ("entries", "archive", "versions", "messages", "journal", "ledger", "usage")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The receipt of a forgetting: how much held the words, by kind of place and by file."""

    counts: dict[str, int]
    places: dict[str, int]

    @property
    def is_empty(self) -> bool:
        """Whether nothing held them."""
        return not self.places


def forget(
    desk: Desk,
    log: Transcript,
    what: str | Sequence[str],
    keep_transcript: bool,
    now: datetime,
    actor: str,
) -> Forgotten:
    """Removes a text, or the entries of some ids, everywhere, and what undo needs; answers with what held it.

    Where nothing held it, it is just not learnt from older talk. The caller holds the lock. Raises `StoreError` with
    nothing forgotten while an editor saves a file; where one begins later, it stays under way.
    """
    if is_being_saved(desk):
        raise StoreError(
            f"{desk.folder}: an editor is saving a file. Nothing was forgotten; save, and try again."
        )
    journal_edits(desk, now)
    plan = _plan(desk, what, keep_transcript, actor)
    receipt = _receipt(desk, log, plan)
    if receipt.is_empty:
        _commit(desk, log, plan, now)
        return receipt
    plans.save(_own(desk), plan)
    _carry_out(desk, log, plan, now, receipt)
    return receipt


def is_under_way(desk: Desk) -> bool:
    """Whether a forgetting has begun and not ended; the next holder of the lock goes on with it."""
    return plans.load(_own(desk)) is not None


def resume(desk: Desk, log: Transcript, now: datetime) -> None:
    """Goes on with a forgetting that was cut off, if there is one and nobody is saving a file.

    A file that cannot be read as a text keeps it waiting, and so does a plan that is damaged; `doctor` tells.
    """
    plan = plans.load(_own(desk))
    if plan is None:
        return
    with suppress(UnreadableNote):
        if not is_being_saved(desk):
            _carry_out(desk, log, plan, now, _receipt(desk, log, plan))


def clean_archive_again(desk: Desk, now: datetime) -> None:
    """Takes forgotten lines out of the archive that an older buffer of an editor brought back, and journals that.

    Looks only where the archive changed since the last look.
    """
    path = desk.path(File.ARCHIVE)
    if not desk.state.ledger.forgotten or stamp(path) == desk.archive_seen:
        return
    older = list(desk.state.past_texts(File.ARCHIVE))
    marks = {f"line:{mark}" for each in older for mark in marks_in(each.marked)}
    past = [*(PastText(each.lines) for each in older), *older]
    counts = [0]

    def left(text: str) -> str:
        save = cleaned(text, "", past, desk.key, marks)
        counts.append(save.taken_out)
        return save.text

    with suppress(UnreadableNote):
        if older and not clean_archive(path, desk.root, left):
            return
    if count := max(counts):
        time = now.isoformat(timespec="seconds")
        record = edit_record(
            desk.state.ledger.sequence + 1, time, {}, Delta(), {}, {File.ARCHIVE: count}
        )
        desk.state.append([record], {})
    desk.archive_seen = stamp(path)


def is_being_saved(desk: Desk) -> bool:
    """Whether somebody is halfway through saving one of the files, or the archive."""
    is_held = any(desk.is_held(file, desk.look(file)) for file in KEPT)
    return is_held or archive_cleaning.is_being_saved(desk.path(File.ARCHIVE), desk.root)


def _plan(desk: Desk, what: str | Sequence[str], keep_transcript: bool, actor: str) -> Plan:
    notes = desk.fresh().now
    needles, ids = named(notes, what)
    found = [name for file in KEPT for name in without(notes.note(file).text, needles, desk.key)[1]]
    texts = [] if ids or not isinstance(what, str) else [what]
    marks = {*found, *ids, *(content_id(desk.key, text) for text in texts)}
    return Plan(
        needles.texts, tuple(sorted(needles.messages)), tuple(sorted(marks)), keep_transcript, actor
    )


# ── what holds it ─────────────────────────────────────────────────────────────────────────────────────────────────


def _receipt(desk: Desk, log: Transcript, plan: Plan) -> Forgotten:
    """How much holds the needles as it stands."""
    counts, places = dict.fromkeys(_KINDS, 0), {}
    for kind, place, count in _held(desk, log, plan):
        if count:
            counts[kind] += count
            places[place] = count
    return Forgotten(counts, places)


def _held(desk: Desk, log: Transcript, plan: Plan) -> Iterator[tuple[str, str, int]]:
    """How much of each place holds the needles, with the kind of the place."""
    needles, state = plan.needles, desk.state
    for file in KEPT:
        yield "entries", str(file), _held_in_text(desk, file, needles)
    yield "archive", str(File.ARCHIVE), _held_in_text(desk, File.ARCHIVE, needles)
    for file in File:
        for path in state.versions.paths(file):
            yield (
                "versions",
                f".pipimem/versions/{path.name}",
                int(needles.are_in(own_text(path) or "")),
            )
    for part in () if plan.keep_transcript else log.parts():
        yield (
            "messages",
            part.name,
            sum(_blanked(line, needles) != line for line in jsonlines.lines(part)),
        )
    for part in state.journal.parts():
        lines = {trace.line for text in needles.texts for trace in traces([part], text)}
        yield "journal", f".pipimem/{part.name}", len(lines)
    yield (
        "ledger",
        ".pipimem/ledger.json",
        int(blanked_ledger(state.ledger, needles) != state.ledger),
    )
    for path, found in _quotes(desk, needles).items():
        yield "usage", f"workspace/.pipimem/{path.name}", len(found)


def _held_in_text(desk: Desk, file: File, needles: Needles) -> int:
    """How many entries of a file hold a needle; 1 where only other lines of it do."""
    text = read_text(desk.path(file), desk.root) or ""
    kept, gone = without(text, needles, desk.key)
    return max(len(gone), int(kept != text))


def _quotes(desk: Desk, needles: Needles) -> Mapping[Path, list[tuple[int, int]]]:
    return quotes(desk.root / ".pipimem", needles)


# ── what is done ──────────────────────────────────────────────────────────────────────────────────────────────────


def _carry_out(desk: Desk, log: Transcript, plan: Plan, now: datetime, receipt: Forgotten) -> None:
    """Does what the plan says, and removes it at the end; an editor that saves meanwhile ends it early."""
    needles, state = plan.needles, desk.state
    drop_texts(desk.folder / ".pipimem")
    # Written by pipimem 0.1: etags of texts, which are marks of the words.
    remove(desk.folder / ".pipimem" / "unread")
    if not _commit(desk, log, plan, now):
        return
    # Behind the commit: what it archived for others before is counted in bytes of the archive as it was.
    archive = desk.path(File.ARCHIVE)
    keep_past_of_archive(desk, read_text(archive, desk.root) or "", needles, now)
    if not clean_archive(archive, desk.root, lambda text: without(text, needles, desk.key)[0]):
        return
    gone = set[str]().union(*(clean_past(desk, file, needles, now) for file in KEPT))
    for part in () if plan.keep_transcript else log.parts():
        _rewrite_lines(part, lambda data: _blanked(data, needles))
    log.forgets()
    for path, places in _quotes(desk, needles).items():
        overwrite(path, places)
    state.ledger = _after_forgetting(
        state.ledger, needles, {mark_of(desk.key, line) for line in gone}
    )
    state.start_anew(_first_record(state.ledger, plan, receipt, now))
    # Nor the other way round: what was taken out is back, and nobody knows.
    for folder in (desk.folder, state.versions.folder, desk.folder / ".pipimem"):
        if folder.is_dir():
            sync_folder(folder)
    remove(_own(desk) / plans.NAME)
    desk.clear()


def _commit(desk: Desk, log: Transcript, plan: Plan, now: datetime) -> bool:
    """Takes the entries out of the files, as a commit; whether all files stand so now."""
    what = Decision(FORGET, Author.PERSON)

    def carry_out(_: Desk, view: View) -> Outcome:
        return _outcome(view, plan, log.last_number, desk.key)

    for _ in range(_TRIES):
        commit(desk, what, now, plan.actor, now, Recalls(), insists=True, carry_out=carry_out)
        # A commit leaves to others what the disk refused behind it; here it is told.
        put_in_place(desk, now)
        if is_unfinished(desk):
            return False
        if not any(_held_in_text(desk, file, plan.needles) for file in KEPT):
            return True
    return False


def _outcome(view: View, plan: Plan, newest: int, key: bytes) -> Outcome:
    """The texts without the needles, and marks by which they are not learnt again from older talk."""
    texts = {file: view.now.note(file).text for file in KEPT}
    kept = {file: without(text, plan.needles, key)[0] for file, text in texts.items()}
    records: dict[str, Record | None] = {
        name: None for name in plan.ids if name in view.now.ledger.records
    }
    stones = {name: Tombstone("forgotten", newest) for name in plan.ids}
    return Outcome(
        {file: text for file, text in kept.items() if text != texts[file]},
        delta=Delta(records, dict(stones), forgets_asked=True),
        changes=_changes(plan),
    )


def _changes(plan: Plan) -> tuple[Change, ...]:
    return tuple(Change("forgotten", File.MEMORY, "", id=name) for name in plan.ids)


def _after_forgetting(ledger: Ledger, needles: Needles, marks: Iterable[str]) -> Ledger:
    """The ledger without the needles, and with keyed marks of the lines that went."""
    stones = {f"line:{mark}": Tombstone("forgotten", 0) for mark in marks}
    blanked = blanked_ledger(ledger, needles)
    return replace(blanked, tombstones={**blanked.tombstones, **stones})


def _first_record(ledger: Ledger, plan: Plan, receipt: Forgotten, now: datetime) -> JournalRecord:
    """What stays of the past: that something was forgotten and how much, and the whole ledger as one change."""
    held = ", ".join(f"{count} in {place}" for place, count in receipt.counts.items() if count)
    progress = {name: getattr(ledger, name) for name in PROGRESSED}
    return JournalRecord(
        ledger.sequence, now.isoformat(timespec="seconds"), FORGET, Author.PERSON, plan.actor, held,
        changes=_changes(plan),
        files={File(name): FileChange(mark, mark, ()) for name, mark in ledger.etags.items()},
        delta=Delta(
            dict(ledger.records), dict(ledger.tombstones), ledger.jobs, Progress(**progress), forgets_asked=True
        ),
    )  # fmt: skip


def _blanked(data: bytes, needles: Needles) -> bytes:
    """A line of the transcript without the needles; one that is no message goes where it holds one."""
    message = transcript.parsed(data)
    if message is None:
        return b"" if needles.are_in(data.decode("utf-8", "replace")) else data
    blank = blanked_message(message, needles)
    return data if blank == message else transcript.line(blank)


def _rewrite_lines(part: Path, left: Callable[[bytes], bytes]) -> None:
    """Rewrites the lines of a file of ours, whole or not at all."""
    lines = list(jsonlines.lines(part))
    kept = [left(data) for data in lines]
    if kept != lines:
        put_whole(part, b"".join(kept))


def _own(desk: Desk) -> Path:
    return desk.folder / ".pipimem"
