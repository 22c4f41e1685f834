"""Operations on the entries of MEMORY.md; each answers why it was refused, with nothing when it was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from pipimem.notes.carried_out.work import MOST_SOURCES, Work, lines_of
from pipimem.notes.echoes import Echoes
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.files import File
from pipimem.notes.kinds import Kind, heading_for, kind_of
from pipimem.notes.ledger import Record, Tombstone, still
from pipimem.notes.losses import since
from pipimem.notes.notes import Change
from pipimem.notes.operations import Add, Confirm, Evidence, Invalidate, Move, Supersede, Trust
from pipimem.notes.sections import bullet_text


def add(work: Work, op: Add) -> str:
    """A new entry, or one more source for one that stands."""
    text = bullet_text(op.text)
    name = content_id(work.notes.key, text)
    if not text:
        return "the text is empty"
    if _buried(work, name, op.evidence, op.trust):
        return "it was taken out, and nobody said it again since"
    standing = next(
        (entry for entry in work.notes.memory.entries if entry.id == name and entry.bullet), None
    )
    if standing:
        return confirm(work, Confirm(standing.target, op.evidence))
    if name in work.records and work.records[name] is not None:
        return "the same decision adds it already"
    section = heading_for(op.kind, work.draft(File.MEMORY).titles)
    work.draft(File.MEMORY).put(section, [text])
    probation = _stamp(op.probation_until) if op.probation_until else ""
    _put_up(
        work,
        name,
        replace(_record(work, op, op.kind), probation_until=probation, confidence=op.confidence),
    )
    work.changes.append(Change("added", File.MEMORY, section, after=text, id=name))
    return ""


def supersede(work: Work, op: Supersede) -> str:
    """One text in the place of others."""
    found = [work.take(target) for target in op.targets]
    text = bullet_text(op.text)
    standing = [entry for entry in found if entry]
    if not text or not standing or len(standing) < len(op.targets):
        work.taken -= {entry.target for entry in standing}
        return "the text is empty" if not text else "an entry it replaces stands there no more"
    name = content_id(work.notes.key, text)
    if any(entry.id == name for entry in standing) and len(standing) == 1:
        return confirm(work, Confirm(op.targets[0], op.evidence))
    first, draft = standing[0], work.draft(File.MEMORY)
    kind = op.kind or kind_of(first.section) or Kind.FACT
    # Without a new word it is a merge: what is said elsewhere in the old words is so as before.
    is_merge = not op.evidence.sources
    for entry in standing:
        _bury(work, entry, op.reason or "superseded", op.evidence, still_so=is_merge)
    home = (
        first.section
        if op.kind is None or kind_of(first.section) is kind
        else heading_for(kind, draft.titles)
    )
    if home == first.section:
        draft.replace(first.start, first.end, _bulleted(first.marker, text))
    else:
        draft.remove(first.start, first.end)
        draft.put(home, [text])
    for entry in standing[1:]:
        draft.remove(entry.start, entry.end)
    old = [record for entry in standing if (record := work.notes.record(entry.id))]
    heir = _heir(_record(work, op, kind), old, is_merge=is_merge)
    _put_up(work, name, replace(heir, predecessor=first.id))
    work.changes += [
        Change("superseded", File.MEMORY, entry.section, entry.text, text, name, op.reason)
        for entry in standing
    ]
    return ""


def move(work: Work, op: Move) -> str:
    """An entry under the heading of another kind."""
    entry = work.take(op.target)
    if entry is None:
        return "the entry stands there no more"
    draft = work.draft(File.MEMORY)
    home = heading_for(op.kind, draft.titles)
    if home == entry.section:
        return "it stands there already"
    draft.move(entry.start, entry.end, home)
    record = work.notes.record(entry.id) or Record(Trust.HUMAN)
    work.records[entry.id] = replace(record, kind=op.kind)
    work.changes.append(Change("moved", File.MEMORY, home, entry.section, entry.text, entry.id))
    return ""


def invalidate(work: Work, op: Invalidate) -> str:
    """An entry taken out."""
    entry = work.take(op.target)
    if entry is None:
        return "the entry stands there no more"
    work.draft(File.MEMORY).remove(entry.start, entry.end)
    _bury(work, entry, op.reason, Evidence(), still_so=op.still_so)
    if op.archived:
        _archive(work, entry)
    work.changes.append(
        Change("invalidated", File.MEMORY, entry.section, entry.text, "", entry.id, op.reason)
    )
    return ""


def confirm(work: Work, op: Confirm) -> str:
    """One more source, and the end of a probation."""
    entry = work.notes.find(op.target)
    if entry is None:
        return "the entry stands there no more"
    record = work.notes.record(entry.id)
    if record is None or (
        not set(op.evidence.sources) - set(record.sources) and not record.probation_until
    ):
        return ""
    sources = (
        *record.sources,
        *(source for source in op.evidence.sources if source not in record.sources),
    )
    learnt = op.evidence.learnt or op.evidence.when
    renewed = max(record.learnt, _stamp(learnt)) if learnt else record.learnt
    work.records[entry.id] = replace(
        record, sources=sources[-MOST_SOURCES:], probation_until="", learnt=renewed
    )
    work.changes.append(
        Change("confirmed", File.MEMORY, entry.section, entry.text, entry.text, entry.id)
    )
    return ""


def _buried(work: Work, name: str, evidence: Evidence, trust: Trust) -> bool:
    """Whether it was taken out after all that this rests on; what a person asks for now rests on no message."""
    stones = work.notes.ledger.tombstones
    stone = stones.get(name) or stones.get(still(name))
    if stone is None or trust is Trust.HUMAN or (trust is Trust.EXPLICIT and not evidence.newest):
        return False
    return evidence.newest <= stone.upto


def _archive(work: Work, entry: Entry) -> None:
    """Under a heading that names a day but no time range: no fold takes it for history."""
    heading = f"## Expired {work.now:%Y-%m-%d} · {entry.section or 'Memory'}\n"
    if heading not in work.archived:
        work.archived += f"\n{heading}\n"
    work.archived += lines_of(work.notes.memory, entry.start, entry.end)


def _bury(
    work: Work, entry: Entry, reason: str, evidence: Evidence, *, still_so: bool = False
) -> None:
    """Take an entry's record out; what says the same elsewhere goes with it, unless it is `still_so`."""
    if any(
        e.id == entry.id and e.bullet and e.target not in work.taken
        for e in work.notes.memory.entries
    ):
        return  # its twin in another section stands, and has the same record
    stone = Tombstone(reason, upto=max(evidence.newest, work.notes.ledger.cursor))
    work.records[entry.id] = None
    echoes = () if still_so else Echoes(work.notes).of(entry)
    names = [still(entry.id) if still_so else entry.id, *(line.id for line in echoes)]
    work.tombstones |= dict.fromkeys(names, stone)


def _put_up(work: Work, name: str, record: Record) -> None:
    """A new entry's record; whatever was taken out in these words before."""
    work.records[name] = record
    for stone in (name, still(name)):
        work.tombstones.pop(stone, None)
        if stone in work.notes.ledger.tombstones:
            work.tombstones[stone] = None


def _record(work: Work, op: Add | Supersede, kind: Kind) -> Record:
    when, learnt, expires = op.evidence.when or work.now, op.evidence.learnt, op.expires
    later = learnt is not None and learnt.date() > when.date()
    return Record(
        trust=op.trust,
        kind=kind,
        sources=op.evidence.sources[-MOST_SOURCES:],
        speaker=op.evidence.speaker,
        when=_stamp(when),
        learnt=_stamp(learnt) if learnt and later else "",
        expires=expires.isoformat() if expires else "",
    )


def _heir(record: Record, old: Sequence[Record], *, is_merge: bool) -> Record:
    """The record of a text that takes the place of others: their sources and recalls, and in a merge their times."""
    sources = dict.fromkeys(source for each in (*old, record) for source in each.sources)
    heir = replace(
        record,
        since=min((since(each) for each in old), default=""),
        stands_for=sum(each.stands_for for each in old) or 1,
        sources=tuple(sources)[-MOST_SOURCES:],
        recalls=sum(each.recalls for each in old),
        recalled=max((each.recalled for each in old), default=""),
    )
    if not is_merge or not old:
        return heir
    dated = all(each.expires for each in old)
    return replace(
        heir,
        when=max(each.when for each in old),
        learnt=max(each.learnt for each in old),
        expires=max(each.expires for each in old) if dated else "",
    )


def _stamp(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def _bulleted(marker: str, text: str) -> list[str]:
    return [f"{marker.rstrip()} {text}" if marker.strip() else f"- {text}"]
