"""The ledger and its changes as plain JSON values, and back; what is empty is left out."""

from __future__ import annotations

from collections.abc import Mapping

from pipimem.notes.ledger import Asked, Delta, Ledger, Record, Tombstone
from pipimem.notes.operations import Bullet, Hole, Job, Narrowed, Progress, Trust
from pipimem.store.journal.json_values import (
    CodecError,
    Json,
    a_list,
    a_number,
    a_string,
    an_object,
    checked,
    mapped,
    mapped_or_none,
    strings,
    without_empty,
)

_NARROWED = ("upto", "chars", "failures")
_COUNTERS = ("cursor", "boundary", "refreshed", "epoch_start", "epoch")


def ledger_json(ledger: Ledger) -> Json:
    """A ledger as JSON."""
    return {
        "sequence": ledger.sequence,
        **{name: getattr(ledger, name) for name in _COUNTERS},
        "pending": [_bullet_json(bullet) for bullet in ledger.pending],
        "holes": [_hole_json(hole) for hole in ledger.holes],
        "narrowed": _narrowed_json(ledger.narrowed),
        "records": {name: _record_json(record) for name, record in ledger.records.items()},
        "tombstones": {name: _tombstone_json(stone) for name, stone in ledger.tombstones.items()},
        "jobs": {name: _job_json(job) for name, job in ledger.jobs.items()},
        "etags": dict(ledger.etags),
        "asked": [_asked_json(one) for one in ledger.asked],
        "forgotten": ledger.forgotten,
    }


def ledger_from(value: Json) -> Ledger:
    """The ledger a JSON value stands for; raises `CodecError`."""
    return checked(
        lambda: Ledger(
            sequence=a_number(value["sequence"]),
            **{name: a_number(value[name]) for name in _COUNTERS},
            pending=_bullets(value["pending"]),
            holes=_holes(value["holes"]),
            narrowed=_narrowed_from(value.get("narrowed", {})),
            records=mapped(value["records"], _record_from),
            tombstones=mapped(value["tombstones"], _tombstone_from),
            jobs=mapped(value["jobs"], _job_from),
            etags={name: a_string(mark) for name, mark in an_object(value["etags"]).items()},
            asked=_asked(value.get("asked", [])),
            forgotten=a_number(value.get("forgotten", 0)),
        )
    )


def delta_json(delta: Delta) -> Json:
    """A change of the ledger as JSON; the etags are those of the record's files."""
    return without_empty(
        {
            "records": {name: record and _record_json(record) for name, record in delta.records.items()},
            "tombstones": {name: stone and _tombstone_json(stone) for name, stone in delta.tombstones.items()},
            "jobs": {name: _job_json(job) for name, job in delta.jobs.items()},
            "progress": _progress_json(delta.progress),
            "asked": [_asked_json(one) for one in delta.asked],
            "forgets_asked": delta.forgets_asked or "",
        }
    )


def delta_from(value: Json, etags: Mapping[str, str]) -> Delta:
    """The change a JSON value stands for; `etags` are those of the record's files."""
    return Delta(
        records=mapped_or_none(value.get("records", {}), _record_from),
        tombstones=mapped_or_none(value.get("tombstones", {}), _tombstone_from),
        jobs=mapped(value.get("jobs", {}), _job_from),
        progress=_progress_from(an_object(value.get("progress", {}))),
        etags=etags,
        asked=_asked(value.get("asked", [])),
        forgets_asked=value.get("forgets_asked") is True,
    )


def _progress_json(progress: Progress) -> Json:
    value: Json = {name: count for name in _COUNTERS if (count := getattr(progress, name)) is not None}
    # An empty list says "none are left", which is not the same as leaving it out.
    if progress.pending is not None:
        value["pending"] = [_bullet_json(bullet) for bullet in progress.pending]
    if progress.holes is not None:
        value["holes"] = [_hole_json(hole) for hole in progress.holes]
    if progress.narrowed is not None:
        value["narrowed"] = _narrowed_json(progress.narrowed)
    return value


def _progress_from(value: Json) -> Progress:
    return Progress(
        **{name: a_number(value[name]) for name in _COUNTERS if name in value},  # type: ignore[arg-type]
        pending=_bullets(value["pending"]) if "pending" in value else None,
        holes=_holes(value["holes"]) if "holes" in value else None,
        narrowed=_narrowed_from(value["narrowed"]) if "narrowed" in value else None,
    )


def _record_json(record: Record) -> Json:
    value = without_empty(
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
            "learnt": record.learnt,
            "expires": record.expires,
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
        trust=Trust(a_string(value["trust"])),
        kind=a_string(value.get("kind", "")),
        sources=strings(value.get("sources", [])),
        speaker=a_string(value.get("speaker", "")),
        when=a_string(value.get("when", "")),
        recalls=a_number(value.get("recalls", 0)),
        recalled=a_string(value.get("recalled", "")),
        probation_until=a_string(value.get("probation_until", "")),
        predecessor=a_string(value.get("predecessor", "")),
        confidence=float(confidence),
        learnt=a_string(value.get("learnt", "")),
        expires=a_string(value.get("expires", "")),
    )


def _tombstone_json(stone: Tombstone) -> Json:
    return {"reason": stone.reason, "upto": stone.upto}


def _tombstone_from(value: Json) -> Tombstone:
    return Tombstone(a_string(value["reason"]), a_number(value["upto"]))


def _job_json(job: Job) -> Json:
    return without_empty({"ran": job.ran, "due": job.due, "failures": job.failures, "stamp": job.stamp})


def _job_from(value: Json) -> Job:
    return Job(
        ran=a_string(value.get("ran", "")),
        due=a_string(value.get("due", "")),
        failures=a_number(value.get("failures", 0)),
        stamp=a_string(value.get("stamp", "")),
    )


def _bullet_json(bullet: Bullet) -> Json:
    return without_empty({"text": bullet.text, "sources": list(bullet.sources)})


def _bullets(value: object) -> tuple[Bullet, ...]:
    return tuple(
        Bullet(a_string(bullet.get("text", "")), strings(bullet.get("sources", [])))
        for bullet in map(an_object, a_list(value))
    )


def _asked_json(asked: Asked) -> Json:
    return without_empty({"text": asked.text, "when": asked.when, "found": list(asked.found)})


def _asked(value: object) -> tuple[Asked, ...]:
    return tuple(
        Asked(a_string(one.get("text", "")), a_string(one.get("when", "")), strings(one.get("found", [])))
        for one in map(an_object, a_list(value))
    )


def _hole_json(hole: Hole) -> list[object]:
    return [hole.first, hole.last, hole.reason]


def _holes(value: object) -> tuple[Hole, ...]:
    return tuple(
        Hole(a_number(first), a_number(last), *(a_string(reason) for reason in rest[:1]))
        for first, last, *rest in map(a_list, a_list(value))
    )


def _narrowed_json(narrowed: Narrowed) -> Json:
    return without_empty({"upto": narrowed.upto, "chars": narrowed.chars, "failures": narrowed.failures})


def _narrowed_from(value: object) -> Narrowed:
    return Narrowed(**{name: a_number(number) for name, number in an_object(value).items() if name in _NARROWED})
