"""A text removed from everything a channel keeps, finished at the next start where a crash cut it off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Record, Tombstone
from pipimem.notes.notes import Change, etag
from pipimem.notes.operations import Author, Progress
from pipimem.store import transcript
from pipimem.store.caches.caches import drop_texts
from pipimem.store.commits.desk import KEPT, Desk
from pipimem.store.commits.placing import rewrite
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import read_whole, sync_folder
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.forgetting.needles import (
    Needles,
    blanked_ledger,
    blanked_message,
    blanked_record,
    held_in,
    named,
    without,
)
from pipimem.store.forgetting.overwriting import from_usage
from pipimem.store.forgetting.unwriting import unwritten
from pipimem.store.journal import journal
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.store.transcript import Transcript

Counts = Mapping[str, int]
"""How much went, by the name of a file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is being forgotten, as `.pipimem/forget.json` holds it until it is done."""

    needles: Needles
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The receipt of a forgetting: how much went by kind of place, and by file."""

    counts: dict[str, int]
    places: dict[str, int]


def forget(
    desk: Desk, log: Transcript, what: str | Sequence[str], keep_transcript: bool, now: datetime, actor: str
) -> Forgotten:
    """Removes a text, or the entries of some ids, everywhere; the receipt says how much from where.

    The caller holds the lock.
    """
    plan = _plan(desk, what, keep_transcript, actor)
    put_whole(_plan_path(desk), jsonlines.line(_plan_json(plan)))
    # A power cut must not take the plan and leave what it began.
    sync_folder(_plan_path(desk).parent)
    return _carried_out(desk, log, plan, now)


def resume(desk: Desk, log: Transcript, now: datetime) -> bool:
    """Finishes a forgetting that was cut off; whether there was one."""
    path = _plan_path(desk)
    if not path.exists():
        return False
    if plan := _plan_from(read_whole(path)):
        _carried_out(desk, log, plan, now)
    remove(path)
    return True


def _plan(desk: Desk, what: str | Sequence[str], keep_transcript: bool, actor: str) -> Plan:
    notes = desk.fresh().now
    needles, ids = named(notes, what)
    found = [name for file in KEPT for name in without(notes.note(file).text, needles, desk.key)[1]]
    texts = [] if ids or not isinstance(what, str) else [what]
    marks = {*found, *ids, *(content_id(desk.key, text) for text in texts)}
    return Plan(needles, tuple(sorted(marks)), keep_transcript, actor)


def _carried_out(desk: Desk, log: Transcript, plan: Plan, now: datetime) -> Forgotten:
    state, needles = desk.state, plan.needles
    drop_texts(desk.folder / ".pipimem")
    # The journal first: what its texts were without the words is told from the files as they stand. Before it what is
    # known by their etags, which nobody could tell any more afterwards.
    past = unwritten(desk, needles)
    # Written by pipimem 0.1: etags, which are marks of the words.
    remove(desk.folder / ".pipimem" / "unread")
    journal = _from_journal(desk, needles, past.changes)
    # Its new name first: a checkpoint must not know a record that went with the former one.
    sync_folder(_plan_path(desk).parent)
    entries = {file: _from_file(desk, file, needles) for file in (*KEPT, File.ARCHIVE)}
    versions = _from_versions(desk, needles)
    messages = {} if plan.keep_transcript else _from_transcript(log, needles)
    state.catch_up()
    held = held_in(state.ledger, needles)
    state.ledger = blanked_ledger(state.ledger, needles)
    usage = from_usage(desk.root / ".pipimem", needles)
    _written_down(desk, log, plan, now)
    # Nor the other way round: what was taken out is back, and nobody knows.
    for folder in (desk.folder, state.versions.folder, desk.folder / ".pipimem"):
        if folder.is_dir():
            sync_folder(folder)
    remove(_plan_path(desk))
    return _receipt(entries, versions, messages, journal, held, usage)


def _written_down(desk: Desk, log: Transcript, plan: Plan, now: datetime) -> None:
    """A record of it, and a checkpoint: no older ledger is read again."""
    state = desk.state
    texts = {file: desk.on_disk(file) for file in KEPT}
    state.append([_record(desk, log, plan, texts, now)], texts)
    state.checkpoint(texts, now)
    desk.clear()


def _receipt(
    entries: Mapping[File, int], versions: Counts, messages: Counts, journal: Counts, held: int, usage: Counts
) -> Forgotten:
    """What went, by kind of place and by file; `held` is what the ledger held."""
    counts = {
        "entries": sum(entries[file] for file in KEPT),
        "archive": entries[File.ARCHIVE],
        "versions": len(versions),
        "messages": sum(messages.values()),
        "journal": sum(journal.values()),
        "ledger": held,
        "usage": sum(usage.values()),
    }
    own = {**versions, **journal, "ledger.json": held}
    places = {
        **{str(file): count for file, count in entries.items()},
        **messages,
        **{f".pipimem/{name}": count for name, count in own.items()},
        **{f"workspace/.pipimem/{name}": count for name, count in usage.items()},
    }
    return Forgotten(counts, {place: count for place, count in places.items() if count})


def _record(desk: Desk, log: Transcript, plan: Plan, texts: dict[File, str], now: datetime) -> JournalRecord:
    """What stays of it: that it happened, and marks by which the text is not learnt again."""
    ledger = desk.state.ledger
    gone: dict[str, Record | None] = {name: None for name in plan.ids if name in ledger.records}
    stones = {name: Tombstone("forgotten", log.last_number) for name in plan.ids}
    # Nothing in the journal says that there was more: not the lines, and no mark of the text that had them.
    changes = {
        file: FileChange(etag(text), etag(text), ())
        for file, text in texts.items()
        if ledger.etags.get(file, etag(text)) != etag(text)
    }
    return JournalRecord(
        ledger.sequence + 1, now.isoformat(timespec="seconds"), "forget", Author.PERSON, plan.actor,
        changes=tuple(Change("forgotten", File.MEMORY, "", id=name) for name in plan.ids), files=changes,
        delta=Delta(
            gone, dict(stones), progress=Progress(pending=ledger.pending),
            etags={file: change.after for file, change in changes.items()}, forgets_asked=True,
        ),
    )  # fmt: skip


def _from_file(desk: Desk, file: File, needles: Needles) -> int:
    counts: list[int] = []

    def left(text: str) -> str:
        kept, gone = without(text, needles, desk.key)
        counts.append(max(len(gone), int(kept != text)))
        return kept

    rewrite(desk.path(file), left, desk.root)
    return max(counts, default=0)


def _from_versions(desk: Desk, needles: Needles) -> dict[str, int]:
    gone = {}
    for file in File:
        for path in desk.state.versions.paths(file):
            if needles.are_in(read_whole(path).decode("utf-8", "replace")):
                remove(path)
                gone[f"versions/{path.name}"] = 1
    return gone


def _from_transcript(log: Transcript, needles: Needles) -> dict[str, int]:
    def left(data: bytes) -> bytes:
        message = transcript.parsed(data)
        if message is None:
            return _unless_held(data, needles)
        blank = blanked_message(message, needles)
        return data if blank == message else transcript.line(blank)

    gone = {part.name: _rewritten(part, left) for part in log.parts()}
    log.forgets()
    return gone


def _from_journal(desk: Desk, needles: Needles, changes: Mapping[int, Mapping[File, FileChange]]) -> dict[str, int]:
    def left(data: bytes) -> bytes:
        record = journal.parsed(data)
        if record is None:
            return _unless_held(data, needles)
        others = changes.get(record.sequence, {})
        # Notes of an edit name the version that was kept by digits of its etag: a mark of the words.
        notes = tuple(note for note in record.notes if not others or ".pipimem/versions/" not in note)
        blank = blanked_record(replace(record, files={**record.files, **others}, notes=notes), needles)
        return data if blank == record else journal.line(blank)

    return {part.name: _rewritten(part, left) for part in desk.state.journal.parts()}


def _unless_held(data: bytes, needles: Needles) -> bytes:
    """A damaged line, unless a needle stands in it."""
    return b"" if needles.are_in(data.decode("utf-8", "replace")) else data


def _rewritten(part: Path, left: Callable[[bytes], bytes]) -> int:
    """Rewrites the lines of a file of ours, whole or not at all; how many changed."""
    lines = list(jsonlines.lines(part))
    kept = [left(data) for data in lines]
    changed = sum(old != new for old, new in zip(lines, kept, strict=True))
    if changed:
        put_whole(part, b"".join(kept))
    return changed


def _plan_path(desk: Desk) -> Path:
    return desk.folder / ".pipimem" / "forget.json"


def _plan_json(plan: Plan) -> dict[str, object]:
    return {
        "texts": list(plan.needles.texts),
        "messages": sorted(plan.needles.messages),
        "ids": list(plan.ids),
        "keep_transcript": plan.keep_transcript,
        "actor": plan.actor,
    }


def _plan_from(data: bytes) -> Plan | None:
    match jsonlines.value(data):
        case {
            "texts": [*texts],
            "messages": [*messages],
            "ids": [*ids],
            "keep_transcript": bool(keep),
            "actor": actor,
        }:
            needles = Needles(tuple(map(str, texts)), frozenset(map(str, messages)))
            return Plan(needles, tuple(map(str, ids)), keep, str(actor))
    return None
