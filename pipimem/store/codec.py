"""Journal records and ledgers as plain JSON values, and back; what is empty is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from pipimem.notes.files import File
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.notes import Change
from pipimem.notes.operations import Author, Bullet, Job, Progress, Trust
from pipimem.store.records import FileChange, JournalRecord, RefusedLine
from pipimem.text.splices import Splice

Json = dict[str, object]
T = TypeVar("T")

_COUNTERS = ("cursor", "boundary", "refreshed", "epoch_start", "epoch")


class CodecError(ValueError):
    """A JSON value is not what its place asks for; the rooms that read say which file and line it is in."""


def record_json(record: JournalRecord) -> Json:
    """A journal record as JSON."""
    return _without_empty(
        {
            "seq": record.sequence,
            "ts": record.time,
            "task": record.task,
            "author": str(record.author),
            "actor": record.actor,
            "why": record.why,
            "correlation": record.correlation,
            "changes": [_change_json(change) for change in record.changes],
            "refused": [
                {"operation": refused.operation, "text": refused.text, "reason": refused.reason}
                for refused in record.refused
            ],
            "notes": list(record.notes),
            "files": {str(file): _file_json(change) for file, change in record.files.items()},
            "archived": record.archived,
            "archive_size": record.archive_size,
            "delta": delta_json(record.delta),
        }
    )


def record_from(value: Json) -> JournalRecord:
    """The journal record a JSON value stands for; raises `CodecError`."""
    files = {File(name): _file_from(_object(change)) for name, change in _object(value.get("files", {})).items()}
    return _checked(
        lambda: JournalRecord(
            sequence=_int(value["seq"]),
            time=_str(value.get("ts", "")),
            task=_str(value.get("task", "")),
            author=Author(_str(value["author"])),
            actor=_str(value.get("actor", "")),
            why=_str(value.get("why", "")),
            correlation=_str(value.get("correlation", "")),
            changes=tuple(_change_from(_object(change)) for change in _list(value.get("changes", []))),
            refused=tuple(_refused_from(_object(refused)) for refused in _list(value.get("refused", []))),
            notes=_strings(value.get("notes", [])),
            files=files,
            archived=_str(value.get("archived", "")),
            archive_size=_int(value.get("archive_size", 0)),
            delta=_delta_from(_object(value.get("delta", {})), {str(file): files[file].after for file in files}),
        )
    )


def ledger_json(ledger: Ledger) -> Json:
    """A ledger as JSON."""
    return {
        "sequence": ledger.sequence,
        **{name: getattr(ledger, name) for name in _COUNTERS},
        "pending": [_bullet_json(bullet) for bullet in ledger.pending],
        "holes": [list(hole) for hole in ledger.holes],
        "records": {name: _record_json(record) for name, record in ledger.records.items()},
        "tombstones": {name: _tombstone_json(stone) for name, stone in ledger.tombstones.items()},
        "jobs": {name: _job_json(job) for name, job in ledger.jobs.items()},
        "etags": dict(ledger.etags),
    }


def ledger_from(value: Json) -> Ledger:
    """The ledger a JSON value stands for; raises `CodecError`."""
    return _checked(
        lambda: Ledger(
            sequence=_int(value["sequence"]),
            **{name: _int(value[name]) for name in _COUNTERS},
            pending=_bullets(value["pending"]),
            holes=_holes(value["holes"]),
            records=_mapped(value["records"], _record_from),
            tombstones=_mapped(value["tombstones"], _tombstone_from),
            jobs=_mapped(value["jobs"], _job_from),
            etags={name: _str(mark) for name, mark in _object(value["etags"]).items()},
        )
    )


def delta_json(delta: Delta) -> Json:
    """A change of the ledger as JSON; the etags are those of the record's files."""
    return _without_empty(
        {
            "records": {name: record and _record_json(record) for name, record in delta.records.items()},
            "tombstones": {name: stone and _tombstone_json(stone) for name, stone in delta.tombstones.items()},
            "jobs": {name: _job_json(job) for name, job in delta.jobs.items()},
            "progress": _progress_json(delta.progress),
        }
    )


def _delta_from(value: Json, etags: Mapping[str, str]) -> Delta:
    return Delta(
        records=_mapped_or_none(value.get("records", {}), _record_from),
        tombstones=_mapped_or_none(value.get("tombstones", {}), _tombstone_from),
        jobs=_mapped(value.get("jobs", {}), _job_from),
        progress=_progress_from(_object(value.get("progress", {}))),
        etags=etags,
    )


def _progress_json(progress: Progress) -> Json:
    value: Json = {name: count for name in _COUNTERS if (count := getattr(progress, name)) is not None}
    # An empty list says "none are left", which is not the same as leaving it out.
    if progress.pending is not None:
        value["pending"] = [_bullet_json(bullet) for bullet in progress.pending]
    if progress.holes is not None:
        value["holes"] = [list(hole) for hole in progress.holes]
    return value


def _progress_from(value: Json) -> Progress:
    return Progress(
        **{name: _int(value[name]) for name in _COUNTERS if name in value},
        pending=_bullets(value["pending"]) if "pending" in value else None,
        holes=_holes(value["holes"]) if "holes" in value else None,
    )


def _record_json(record: Record) -> Json:
    value = _without_empty(
        {
            "trust": str(record.trust),
            "kind": str(record.kind),
            "sources": list(record.sources),
            "speaker": record.speaker,
            "when": record.when,
            "recalls": record.recalls,
            "recalled": record.recalled,
            "probation_until": record.probation_until,
            "predecessor": record.predecessor,
        }
    )
    if record.confidence != 1.0:
        value["confidence"] = record.confidence
    return value


def _record_from(value: Json) -> Record:
    confidence = value.get("confidence", 1.0)
    if not isinstance(confidence, int | float):
        raise CodecError("confidence")
    return Record(
        trust=Trust(_str(value["trust"])),
        kind=_str(value.get("kind", "")),
        sources=_strings(value.get("sources", [])),
        speaker=_str(value.get("speaker", "")),
        when=_str(value.get("when", "")),
        recalls=_int(value.get("recalls", 0)),
        recalled=_str(value.get("recalled", "")),
        probation_until=_str(value.get("probation_until", "")),
        predecessor=_str(value.get("predecessor", "")),
        confidence=float(confidence),
    )


def _tombstone_json(stone: Tombstone) -> Json:
    return {"reason": stone.reason, "upto": stone.upto}


def _tombstone_from(value: Json) -> Tombstone:
    return Tombstone(_str(value["reason"]), _int(value["upto"]))


def _job_json(job: Job) -> Json:
    return _without_empty({"ran": job.ran, "due": job.due, "failures": job.failures, "stamp": job.stamp})


def _job_from(value: Json) -> Job:
    return Job(
        ran=_str(value.get("ran", "")),
        due=_str(value.get("due", "")),
        failures=_int(value.get("failures", 0)),
        stamp=_str(value.get("stamp", "")),
    )


def _bullet_json(bullet: Bullet) -> Json:
    return _without_empty({"text": bullet.text, "sources": list(bullet.sources)})


def _bullets(value: object) -> tuple[Bullet, ...]:
    return tuple(
        Bullet(_str(bullet.get("text", "")), _strings(bullet.get("sources", [])))
        for bullet in map(_object, _list(value))
    )


def _holes(value: object) -> tuple[tuple[int, int], ...]:
    return tuple((_int(_list(hole)[0]), _int(_list(hole)[1])) for hole in _list(value))


def _change_json(change: Change) -> Json:
    return _without_empty(
        {
            "verb": change.verb,
            "file": str(change.file),
            "section": change.section,
            "before": change.before,
            "after": change.after,
            "id": change.id,
            "reason": change.reason,
        }
    )


def _change_from(value: Json) -> Change:
    rest = {name: _str(value.get(name, "")) for name in ("section", "before", "after", "id", "reason")}
    return Change(_str(value.get("verb", "")), File(_str(value["file"])), **rest)


def _refused_from(value: Json) -> RefusedLine:
    return RefusedLine(*(_str(value.get(name, "")) for name in ("operation", "text", "reason")))


def _file_json(change: FileChange) -> Json:
    splices = [[splice.start, list(splice.removed), list(splice.added)] for splice in change.splices]
    value: Json = {"before": change.before, "after": change.after, "splices": splices}
    return {**value, "found": change.found} if change.found else value


def _file_from(value: Json) -> FileChange:
    splices = []
    for splice in map(_list, _list(value["splices"])):
        start, removed, added = splice
        splices.append(Splice(_int(start), _strings(removed), _strings(added)))
    return FileChange(_str(value["before"]), _str(value["after"]), tuple(splices), _str(value.get("found", "")))


def _without_empty(value: Json) -> Json:
    return {name: item for name, item in value.items() if item not in ("", 0, [], {})}


def _checked(build: Callable[[], T]) -> T:
    try:
        return build()
    except CodecError:
        raise
    except (KeyError, ValueError, IndexError) as error:
        raise CodecError(str(error)) from error


def _mapped(value: object, item: Callable[[Json], T]) -> dict[str, T]:
    return {name: item(_object(each)) for name, each in _object(value).items()}


def _mapped_or_none(value: object, item: Callable[[Json], T]) -> dict[str, T | None]:
    return {name: None if each is None else item(_object(each)) for name, each in _object(value).items()}


def _object(value: object) -> Json:
    if not isinstance(value, dict):
        raise CodecError("an object is expected")
    return cast("Json", value)


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise CodecError("a list is expected")
    return value


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise CodecError("a string is expected")
    return value


def _int(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise CodecError("a whole number is expected")
    return value


def _strings(value: object) -> tuple[str, ...]:
    items: Iterable[object] = _list(value)
    return tuple(_str(item) for item in items)
