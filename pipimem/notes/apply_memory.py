"""Operations on the entries of MEMORY.md; each returns why it was refused, empty when done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from msgspec.structs import replace

from pipimem.notes.entry import Entry, content_id
from pipimem.notes.guards import since
from pipimem.notes.headings import heading_for, kind_of
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Record, Tombstone, pair_name, still, tombstone_names
from pipimem.notes.note_draft import MOST_SOURCES, AppliedDraft, bullet_text, lines_of
from pipimem.notes.notes import FORGOTTEN
from pipimem.notes.operations import (
    Add,
    Change,
    Confirm,
    Doubt,
    Evidence,
    Invalidate,
    Move,
    Settle,
    Supersede,
    Trust,
)
from pipimem.notes.reconcile import restating_lines

_NO_TEXT = "the text is empty"
_NOT_THERE = "the entry stands there no more"


def add(work: AppliedDraft, op: Add) -> str:
    """Adds an entry, or one more source to the entry that has this text already."""
    text = bullet_text(op.text)
    name = content_id(work.notes.key, text)
    if not text:
        return _NO_TEXT
    if tombstone := _tombstone(work, name, op.evidence, op.trust):
        is_forgotten = tombstone.reason == "forgotten"
        return FORGOTTEN if is_forgotten else "it was taken out, and nobody said it again since"
    for entry in work.notes.memory.entries:
        if entry.id == name and entry.bullet:
            reason = confirm(work, Confirm(entry.target, op.evidence))
            _set_due(work, entry, op.due)
            return reason
    if work.records.get(name) is not None:
        return "the same decision adds it already"
    section = _heading(work, op.kind, text)
    work.draft(File.MEMORY).put(section, [text])
    record = _record(work, op, op.kind)
    probation = _stamp(op.probation_until)
    _record_new(work, name, replace(record, probation_until=probation))
    work.changes.append(Change("added", File.MEMORY, section, after=text, id=name))
    return ""


def supersede(work: AppliedDraft, op: Supersede) -> str:
    """Puts one text in the place of one or more entries."""
    text = bullet_text(op.text)
    if not text:
        return _NO_TEXT
    entries = work.take(*op.targets)
    if not entries:
        return "an entry it replaces stands there no more"
    name = content_id(work.notes.key, text)
    if [entry.id for entry in entries] == [name]:
        return confirm(work, Confirm(op.targets[0], op.evidence, op.trust))
    for entry in entries:
        # Without a new message it is a merge: what is said elsewhere in the old words is still so.
        _add_tombstones(work, entry, op.reason or "superseded", op.evidence, still_so=_is_merge(op))
        change = Change("superseded", File.MEMORY, entry.section, entry.text, text, name, op.reason)
        work.changes.append(change)
    _replace_entries(work, entries, text, op.kind)
    _record_replacement(work, op, entries, name)
    return ""


def move(work: AppliedDraft, op: Move) -> str:
    """Moves an entry under the heading of another kind."""
    entries = work.take(op.target)
    if not entries:
        return _NOT_THERE
    entry = entries[0]
    section = _heading(work, op.kind, entry.text)
    if section == entry.section:
        return "it stands there already"
    work.draft(File.MEMORY).move(entry.start, entry.end, section)
    record = work.notes.record(entry.id) or Record(Trust.HUMAN)
    work.records[entry.id] = replace(record, kind=op.kind)
    work.changes.append(Change("moved", File.MEMORY, section, entry.section, entry.text, entry.id))
    return ""


def invalidate(work: AppliedDraft, op: Invalidate) -> str:
    """Takes an entry out of MEMORY.md, into the archive if the operation says so."""
    if op.holds is not None and work.notes.find(op.holds) is None:
        return "the entry that was to hold is gone"
    entries = work.take(op.target)
    if not entries:
        return _NOT_THERE
    entry = entries[0]
    _add_tombstones(work, entry, op.reason, Evidence(), still_so=op.still_so)
    if op.archived:
        _archive(work, entry)
    draft = work.draft(File.MEMORY)
    # A heading that is none of ours stays.
    if op.archived and kind_of(entry.section):
        draft.remove_with_heading(entry.start, entry.end)
    else:
        draft.remove(entry.start, entry.end)
    change = Change(
        "invalidated", File.MEMORY, entry.section, entry.text, id=entry.id, reason=op.reason
    )
    work.changes.append(change)
    return ""


def mark(work: AppliedDraft, op: Confirm | Doubt | Settle) -> str:
    """Changes what is known of entries; their words stay."""
    match op:
        case Confirm():
            return confirm(work, op)
        case Doubt():
            return doubt(work, op)
        case Settle():
            return settle(work, op)


def confirm(work: AppliedDraft, op: Confirm) -> str:
    """Adds sources to an entry's record and ends its probation."""
    entry = work.notes.find(op.target)
    if entry is None:
        return _NOT_THERE
    # What the same decision took out has no record any more.
    record = work.records.get(entry.id, work.notes.record(entry.id))
    if record is None:
        return ""
    was = record
    record = _apply_trust_and_recall(was, op)
    is_known = set(op.evidence.sources) <= set(was.sources) and record.trust is was.trust
    if is_known and not record.probation_until and not op.was_helpful:
        return ""
    sources = tuple(dict.fromkeys((*record.sources, *op.evidence.sources)))
    learnt = max(record.learnt, _stamp(op.evidence.learnt or op.evidence.when))
    work.records[entry.id] = replace(
        record,
        sources=sources[-MOST_SOURCES:],
        probation_until="",
        learnt=learnt,
        heard=len(work.speakers) if op.evidence.sources else record.heard,
    )
    change = Change("confirmed", File.MEMORY, entry.section, entry.text, entry.text, entry.id)
    work.changes.append(change)
    return ""


def _apply_trust_and_recall(record: Record, op: Confirm) -> Record:
    """Return a record with the trust that a quote gets, and one more recall if it was helpful."""
    if op.trust and record.trust is Trust.QUOTED:
        record = replace(record, trust=op.trust, quote_reason="")
    if op.was_helpful:
        record = replace(record, recalls=record.recalls + 1)
    return record


def doubt(work: AppliedDraft, op: Doubt) -> str:
    """Put an entry on probation, which one recall ends.

    It ranks lower, and expires if it was inferred. What a person typed stays as it is.
    """
    entry = work.notes.find(op.target)
    if entry is None:
        return _NOT_THERE
    record = work.notes.record(entry.id)
    if record is None or record.trust not in (Trust.INFERRED, Trust.EXPLICIT):
        return "a person typed it, or it is somebody's words"
    until = _stamp(op.probation_until)
    work.records[entry.id] = replace(record, probation_until=until, recalls=0)
    work.changes.append(
        Change("doubted", File.MEMORY, entry.section, entry.text, entry.text, entry.id)
    )
    return ""


def settle(work: AppliedDraft, op: Settle) -> str:
    """Marks two entries as settled: both hold."""
    one, other = work.notes.find(op.one), work.notes.find(op.other)
    if one is None or other is None:
        return _NOT_THERE
    work.settled[pair_name(one.id, other.id)] = work.now.date().isoformat()
    beside = f"it holds beside: {other.text}"
    work.changes.append(
        Change("settled", File.MEMORY, one.section, after=one.text, id=one.id, reason=beside)
    )
    return ""


def _set_due(work: AppliedDraft, entry: Entry, due: date | None) -> None:
    """Sets the day an entry is due, where one is given for what stands there already."""
    record = work.records.get(entry.id, work.notes.record(entry.id)) or Record(Trust.HUMAN)
    if due is not None and record.due != due.isoformat():
        work.records[entry.id] = replace(record, due=due.isoformat())
        reason = f"due {due.isoformat()}"
        work.changes.append(
            Change("dated", File.MEMORY, entry.section, "", entry.text, entry.id, reason)
        )


def _heading(work: AppliedDraft, kind: Kind, text: str) -> str:
    """The heading that an entry of a kind goes under, in the language of the file."""
    said = work.said_in(File.MEMORY, text)
    return heading_for(kind, work.draft(File.MEMORY).titles, said)


def _replace_entries(
    work: AppliedDraft, entries: Sequence[Entry], text: str, kind: Kind | None
) -> None:
    """Puts the text in the place of the first entry, or under the heading of its kind if given."""
    draft, first = work.draft(File.MEMORY), entries[0]
    section = first.section
    if kind is not None and kind_of(section) is not kind:
        section = _heading(work, kind, text)
    if section == first.section:
        marker = first.marker.rstrip() or "-"
        draft.replace(first.start, first.end, [f"{marker} {text}"])
    else:
        draft.remove(first.start, first.end)
        draft.put(section, [text])
    for entry in entries[1:]:
        draft.remove(entry.start, entry.end)


def _tombstone(work: AppliedDraft, name: str, evidence: Evidence, trust: Trust) -> Tombstone | None:
    """Return the tombstone of a text that was taken out after all messages that this rests on.

    What a person asks for now rests on no message, and never has one.
    """
    is_asked = trust in (Trust.EXPLICIT, Trust.QUOTED) and not evidence.newest
    if trust is Trust.HUMAN or is_asked:
        return None
    known = work.notes.ledger.tombstones
    tombstones = [known[key] for key in tombstone_names(name) if key in known]
    return next((stone for stone in tombstones if evidence.newest <= stone.upto), None)


def _archive(work: AppliedDraft, entry: Entry) -> None:
    """Appends an entry to the archive.

    The heading names a day but no time range: no fold takes it for history.
    """
    heading = f"## Expired {work.now:%Y-%m-%d} · {entry.section or 'Memory'}\n"
    if heading not in work.archived:
        work.archived += f"\n{heading}\n"
    work.archived += lines_of(work.notes.memory, entry.start, entry.end)


def _add_tombstones(
    work: AppliedDraft, entry: Entry, reason: str, evidence: Evidence, *, still_so: bool
) -> None:
    """Takes an entry's record out; the tombstones cover its restatements unless `still_so`."""
    for other in work.notes.memory.entries:
        if other.id == entry.id and other.bullet and other.target not in work.taken:
            return  # its twin in another section has the same record
    work.records[entry.id] = None
    tombstone = Tombstone(reason, upto=max(evidence.newest, work.notes.ledger.cursor))
    if still_so:
        work.tombstones[still(entry.id)] = tombstone
        return
    lines = restating_lines(work.notes, [entry])
    work.tombstones |= dict.fromkeys((entry.id, *(line.id for line in lines)), tombstone)


def _record_new(work: AppliedDraft, name: str, record: Record) -> None:
    """Sets the record of a new entry, and takes out tombstones of its text."""
    work.records[name] = record
    for key in tombstone_names(name):
        work.tombstones.pop(key, None)
        if key in work.notes.ledger.tombstones:
            work.tombstones[key] = None


def _record(work: AppliedDraft, op: Add | Supersede, kind: Kind) -> Record:
    when, learnt = op.evidence.when or work.now, op.evidence.learnt
    if learnt is not None and learnt.date() <= when.date():
        learnt = None
    work.add_speakers([op.evidence.speaker])
    return Record(
        trust=op.trust,
        kind=kind,
        sources=op.evidence.sources[-MOST_SOURCES:],
        speaker=op.evidence.speaker,
        when=_stamp(when),
        learnt=_stamp(learnt),
        expires=op.expires.isoformat() if op.expires else "",
        heard=len(work.speakers),
        quote_reason=op.quote_reason,
        due=op.due.isoformat() if op.due else "",
    )


def _is_merge(op: Supersede) -> bool:
    return not op.evidence.sources and not op.is_newer


def _record_replacement(
    work: AppliedDraft, op: Supersede, entries: Sequence[Entry], name: str
) -> None:
    """Sets the record of a text that replaces entries."""
    kind = op.kind or kind_of(entries[0].section) or Kind.FACT
    newer = replace(_record(work, op, kind), predecessor=entries[0].id)
    found = (work.notes.record(entry.id) for entry in entries)
    old = [record for record in found if record is not None]
    if old:
        newer = _with_history(newer, old)
    if old and _is_merge(op):
        newer = _with_times(newer, old)
    _record_new(work, name, newer)


def _with_history(newer: Record, old: Sequence[Record]) -> Record:
    """What replaces entries rests on their sources, too, and stands for as many as they did."""
    sources = dict.fromkeys(source for each in (*old, newer) for source in each.sources)
    return replace(
        newer,
        since=min(since(each) for each in old),
        stands_for=sum(each.stands_for for each in old),
        sources=tuple(sources)[-MOST_SOURCES:],
        recalls=sum(each.recalls for each in old),
        recalled=max(each.recalled for each in old),
    )


def _with_times(newer: Record, old: Sequence[Record]) -> Record:
    """A merge is as new as the newest text in it, and ends with the last if all of them end."""
    ends = [each.expires for each in old]
    return replace(
        newer,
        when=max(each.when for each in old),
        learnt=max(each.learnt for each in old),
        expires=max(ends) if all(ends) else "",
        heard=max(each.heard for each in old),
    )


def _stamp(when: datetime | None) -> str:
    return when.isoformat(timespec="seconds") if when else ""
