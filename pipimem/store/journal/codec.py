"""Journal records as plain JSON values, and back; what is empty is left out."""

from __future__ import annotations

from pipimem.notes.files import File
from pipimem.notes.notes import Change
from pipimem.notes.operations import Author, Tokens
from pipimem.store.journal.json_values import (
    Json,
    a_list,
    a_number,
    a_string,
    an_object,
    checked,
    strings,
    without_empty,
)
from pipimem.store.journal.ledger_codec import delta_from, delta_json
from pipimem.store.journal.records import FileChange, JournalRecord, RefusedLine
from pipimem.text.splices import Splice


def record_json(record: JournalRecord) -> Json:
    """A journal record as JSON."""
    return without_empty(
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
            "tokens": _tokens_json(record.tokens),
            "files": {str(file): _file_json(change) for file, change in record.files.items()},
            "archived": record.archived,
            "archive_size": record.archive_size,
            "delta": delta_json(record.delta),
            "boot": record.boot,
            "goes_on": record.goes_on,
        }
    )


def record_from(value: Json) -> JournalRecord:
    """The journal record a JSON value stands for; raises `CodecError`."""
    files = {File(name): _file_from(an_object(change)) for name, change in an_object(value.get("files", {})).items()}
    return checked(
        lambda: JournalRecord(
            sequence=a_number(value["seq"]),
            time=a_string(value.get("ts", "")),
            task=a_string(value.get("task", "")),
            author=Author(a_string(value["author"])),
            actor=a_string(value.get("actor", "")),
            why=a_string(value.get("why", "")),
            correlation=a_string(value.get("correlation", "")),
            changes=tuple(_change_from(an_object(change)) for change in a_list(value.get("changes", []))),
            refused=tuple(_refused_from(an_object(refused)) for refused in a_list(value.get("refused", []))),
            notes=strings(value.get("notes", [])),
            files=files,
            archived=a_string(value.get("archived", "")),
            archive_size=a_number(value.get("archive_size", 0)),
            delta=delta_from(an_object(value.get("delta", {})), {str(file): files[file].after for file in files}),
            tokens=_tokens_from(an_object(value.get("tokens", {}))),
            boot=a_string(value.get("boot", "")),
            goes_on=value.get("goes_on") is True,
        )
    )


def _tokens_json(tokens: Tokens | None) -> Json:
    return {"run": tokens.run, "today": tokens.today} if tokens else {}


def _tokens_from(value: Json) -> Tokens | None:
    return Tokens(a_number(value["run"]), a_number(value["today"])) if value else None


def _change_json(change: Change) -> Json:
    return without_empty(
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
    rest = {name: a_string(value.get(name, "")) for name in ("section", "before", "after", "id", "reason")}
    return Change(a_string(value.get("verb", "")), File(a_string(value["file"])), **rest)


def _refused_from(value: Json) -> RefusedLine:
    return RefusedLine(*(a_string(value.get(name, "")) for name in ("operation", "text", "reason")))


def _file_json(change: FileChange) -> Json:
    splices = [[splice.start, list(splice.removed), list(splice.added)] for splice in change.splices]
    value: Json = {"before": change.before, "after": change.after, "splices": splices}
    if change.found:
        value["found"] = change.found
    return {**value, "unseen": True} if change.unseen else value


def _file_from(value: Json) -> FileChange:
    splices = []
    for splice in map(a_list, a_list(value["splices"])):
        start, removed, added = splice
        splices.append(Splice(a_number(start), strings(removed), strings(added)))
    found, unseen = a_string(value.get("found", "")), value.get("unseen") is True
    return FileChange(a_string(value["before"]), a_string(value["after"]), tuple(splices), found, unseen)
