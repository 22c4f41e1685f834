"""A text removed from everything a channel keeps, finished at the next start where a crash cut it off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.errors import NothingFound
from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Record, Tombstone
from pipimem.notes.notes import Change, etag
from pipimem.notes.operations import Author, Progress
from pipimem.store import journal, jsonlines, transcript, vectors_file, words_file
from pipimem.store.desk import KEPT, Desk
from pipimem.store.files import put_whole, remove
from pipimem.store.needles import (
    Needles,
    blanked_message,
    blanked_record,
    pending_without,
    sources_of,
    without,
)
from pipimem.store.placing import rewrite
from pipimem.store.records import FileChange, JournalRecord
from pipimem.store.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Plan:
    """What is being forgotten, as `.pipimem/forget.json` holds it until it is done."""

    needles: Needles
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str


def forget(
    desk: Desk, log: Transcript, what: str | Sequence[str], keep_transcript: bool, now: datetime, actor: str
) -> dict[str, int]:
    """Removes a text, or the entries of some ids, everywhere; the counts say how much from where.

    The caller holds the lock.
    """
    plan = _plan(desk, what, keep_transcript, actor)
    put_whole(_plan_path(desk), jsonlines.line(_plan_json(plan)))
    return _carried_out(desk, log, plan, now)


def resume(desk: Desk, log: Transcript, now: datetime) -> bool:
    """Finishes a forgetting that was cut off; whether there was one."""
    path = _plan_path(desk)
    if not path.exists():
        return False
    if plan := _plan_from(path.read_bytes()):
        _carried_out(desk, log, plan, now)
    remove(path)
    return True


def _plan(desk: Desk, what: str | Sequence[str], keep_transcript: bool, actor: str) -> Plan:
    notes = desk.fresh().now
    standing = {entry.id: entry for file in KEPT for entry in notes.note(file).entries}
    asked = [what] if isinstance(what, str) else list(what)
    ids = [name for each in asked if (name := _bare(each)) in standing]
    if len(ids) < len(asked) and not isinstance(what, str):
        missing = next(each for each in asked if _bare(each) not in standing)
        raise NothingFound(f"There is no entry {missing!r}. See `pipimem show` for the ids, or give the text.")
    texts = [standing[name].text for name in ids] or asked
    needles = Needles.of(texts, sources_of(notes.ledger, ids))
    if not needles.texts:
        raise NothingFound("Nothing to forget: the text is empty.")
    found = [name for file in KEPT for name in without(notes.note(file).text, needles, desk.key)[1]]
    return Plan(needles, tuple({*found, *(content_id(desk.key, text) for text in texts)}), keep_transcript, actor)


def _bare(name: str) -> str:
    """The id in `memory:abcd2345.2`."""
    return name.rpartition(":")[2].partition(".")[0]


def _carried_out(desk: Desk, log: Transcript, plan: Plan, now: datetime) -> dict[str, int]:
    state = desk.state
    words_file.drop(desk.folder / ".pipimem")
    vectors_file.drop(desk.folder / ".pipimem")
    before = {file: desk.on_disk(file) for file in KEPT}
    entries = {file: _from_file(desk, file, plan.needles) for file in (*KEPT, File.ARCHIVE)}
    counts = {
        "entries": sum(entries[file] for file in KEPT),
        "archive": entries[File.ARCHIVE],
        "versions": _from_versions(desk, plan.needles),
        "messages": 0 if plan.keep_transcript else _from_transcript(log, plan.needles),
        "journal": _from_journal(desk, plan.needles),
    }
    state.catch_up()
    texts = {file: desk.on_disk(file) for file in KEPT}
    record = _record(desk, log, plan, before, texts, now)
    state.folded([record], state.journal.append([record], state.place), texts)
    state.checkpoint(texts, now)
    desk.clear()
    remove(_plan_path(desk))
    return counts


def _record(
    desk: Desk, log: Transcript, plan: Plan, before: dict[File, str], texts: dict[File, str], now: datetime
) -> JournalRecord:
    """What stays of it: that it happened, and marks by which the text is not learnt again."""
    ledger = desk.state.ledger
    gone: dict[str, Record | None] = {name: None for name in plan.ids if name in ledger.records}
    stones = {name: Tombstone("forgotten", log.last_number) for name in plan.ids}
    pending = pending_without(ledger.pending, plan.needles)
    # Without splices: the lines they would hold are just what is to be gone.
    changes = {
        file: FileChange(etag(before[file]), etag(text), ())
        for file, text in texts.items()
        if text != before[file] or ledger.etags.get(file, etag(text)) != etag(text)
    }
    return JournalRecord(
        ledger.sequence + 1, now.isoformat(timespec="seconds"), "forget", Author.PERSON, plan.actor,
        changes=tuple(Change("forgotten", File.MEMORY, "", id=name) for name in plan.ids), files=changes,
        delta=Delta(
            gone, dict(stones), progress=Progress(pending=pending),
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


def _from_versions(desk: Desk, needles: Needles) -> int:
    gone = 0
    for file in File:
        for path in desk.state.versions.paths(file):
            if needles.are_in(path.read_bytes().decode("utf-8", "replace")):
                remove(path)
                gone += 1
    return gone


def _from_transcript(log: Transcript, needles: Needles) -> int:
    def left(data: bytes) -> bytes:
        message = transcript.parsed(data)
        if message is None:
            return _unless_held(data, needles)
        blank = blanked_message(message, needles)
        return data if blank == message else transcript.line(blank)

    gone = sum(_rewritten(part, left) for part in log.parts())
    log.forgets()
    return gone


def _from_journal(desk: Desk, needles: Needles) -> int:
    def left(data: bytes) -> bytes:
        record = journal.parsed(data)
        if record is None:
            return _unless_held(data, needles)
        blank = blanked_record(record, needles)
        return data if blank == record else journal.line(blank)

    return sum(_rewritten(part, left) for part in desk.state.journal.parts())


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
