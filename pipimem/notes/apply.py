"""A decision carried out on the texts as they stand: pure, all of it or what of it still fits.

What it does to SESSION.md and HISTORY.md stands here, what it does to MEMORY.md in `apply_memory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from pipimem.notes import apply_memory, guards
from pipimem.notes.entry import content_id, record_name
from pipimem.notes.headings import block_heading, month_heading, section_of, title_for
from pipimem.notes.kinds import File, etag
from pipimem.notes.ledger import Delta, Ledger, Record
from pipimem.notes.note_draft import (
    MOST_SOURCES,
    AppliedDraft,
    bullet_text,
    heading_text,
    lines_of,
    paragraph_text,
)
from pipimem.notes.notes import Note, Notes, Outcome, Refusal, blocks
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Author,
    Bullet,
    Change,
    Confirm,
    Decision,
    Doubt,
    FoldBlocks,
    Invalidate,
    Job,
    Move,
    Operation,
    Progress,
    SetSection,
    Settle,
    Supersede,
    Trust,
)
from pipimem.text.markdown.lines import white_folded


def applied(notes: Notes, decision: Decision, now: datetime) -> Outcome:
    """What the decision makes of the notes.

    Every operation finds its target in `notes` itself or is refused; an operation that would change
    nothing is dropped. A decision made on another cursor, or other holes, than today's is refused
    whole, and so is one that was made before something was forgotten: it may rest on that.
    """
    reason = _outdated(notes.ledger, decision.progress)
    if reason:
        return Outcome(refused=tuple(Refusal(op, reason) for op in decision.operations))
    barred = guards.refusals(notes, decision)
    stopped = {id(refusal.operation) for refusal in barred}
    allowed = tuple(op for op in decision.operations if id(op) not in stopped)
    decision, too_many = guards.within_bound(notes, replace(decision, operations=allowed), now)
    speakers = list(notes.ledger.speakers)
    work = AppliedDraft(notes, now, refused=[*barred, *too_many], speakers=speakers)
    work.add_speakers(decision.speakers)
    for operation in decision.operations:
        reason = _done(work, operation)
        if reason:
            work.refused.append(Refusal(operation, reason))
        elif decision.author is Author.MODEL:
            work.losses += guards.losses_by(notes, operation, now)
    return _outcome(work, decision)


def _outdated(ledger: Ledger, progress: Progress) -> str:
    if progress.expect_cursor not in (None, ledger.cursor):
        return f"the cursor moved from {progress.expect_cursor} to {ledger.cursor} meanwhile"
    if progress.expect_holes not in (None, ledger.holes):
        return "other messages are set aside now"
    if progress.expect_forgotten not in (None, ledger.forgotten):
        return "something was forgotten meanwhile"
    return ""


def _done(work: AppliedDraft, operation: Operation) -> str:
    """Do one operation; the answer is why it was refused, empty when it was done."""
    match operation:
        case Add():
            return apply_memory.add(work, operation)
        case Supersede():
            return apply_memory.supersede(work, operation)
        case Move():
            return apply_memory.move(work, operation)
        case Invalidate():
            return apply_memory.invalidate(work, operation)
        case Confirm() | Doubt() | Settle():
            return apply_memory.mark(work, operation)
        case SetSection():
            return _set_section(work, operation)
        case AddBlock():
            return _add_block(work, operation)
        case FoldBlocks():
            return _fold(work, operation)


def _outcome(work: AppliedDraft, decision: Decision) -> Outcome:
    drafts = {file: draft.text() for file, draft in work.drafts.items()}
    texts = {file: text for file, text in drafts.items() if text != work.notes.note(file).text}
    progress = replace(
        decision.progress, expect_cursor=None, expect_holes=None, expect_forgotten=None
    )
    if len(work.speakers) > len(work.notes.ledger.speakers):
        progress = replace(progress, speakers=tuple(work.speakers))
    jobs = _jobs(work.notes, decision, texts)
    delta = Delta(
        work.records,
        work.tombstones,
        jobs,
        progress,
        losses=tuple(work.losses),
        settled=work.settled,
    )
    return Outcome(texts, work.archived, delta, tuple(work.changes), tuple(work.refused))


def _jobs(notes: Notes, decision: Decision, texts: Mapping[File, str]) -> dict[str, Job]:
    if decision.job is None:
        return {}
    job, file = decision.job, decision.looked_at
    if file is not None:
        job = replace(job, stamp=etag(texts.get(file, notes.note(file).text)))
    return {decision.task: job}


def _add_block(work: AppliedDraft, op: AddBlock) -> str:
    """Adds a block at the end of the file, or what it has beyond the block with this heading."""
    texts = _bullet_texts(op.bullets)
    if not texts:
        return "the block has no bullets"
    heading = block_heading(op.start, op.end, heading_text(op.title))
    # Two boundaries within a minute, or a hole filled later: one block, nothing twice.
    entries = work.notes.history.entries
    standing = {entry.text for entry in entries if entry.section == heading}
    texts = [text for text in texts if text not in standing]
    if not texts:
        return "the block stands there already"
    work.draft(File.HISTORY).put(heading, texts)
    _record_bullets(work, op.bullets, op.end)
    work.changes.append(Change("block", File.HISTORY, heading, after="\n".join(texts)))
    return ""


def _fold(work: AppliedDraft, op: FoldBlocks) -> str:
    """Makes blocks one of a month; the text of those that are no fold goes to the archive."""
    note, draft = work.notes.history, work.draft(File.HISTORY)
    wanted = [block for block in blocks(note) if block.heading in op.headings]
    if len({block.heading for block in wanted}) < len(op.headings):
        return "a block to fold stands there no more"
    for block in wanted:
        section = block.section
        draft.remove(section.start, section.end)
        if not block.month:
            work.archived += lines_of(note, section.start, section.end)
    texts = _bullet_texts(op.bullets)
    heading = month_heading(op.month, heading_text(op.title))
    first = wanted[0].section
    lines = [f"## {heading}", "", *(f"- {text}" for text in texts), ""]
    draft.replace(first.start, first.end, lines)
    _record_bullets(work, op.bullets, wanted[-1].end)
    before, after = "\n".join(op.headings), "\n".join(texts)
    work.changes.append(Change("folded", File.HISTORY, heading, before, after))
    return ""


def _bullet_texts(bullets: Sequence[Bullet]) -> list[str]:
    texts = (bullet_text(bullet.text) for bullet in bullets)
    return [text for text in texts if text]


def _record_bullets(work: AppliedDraft, bullets: Sequence[Bullet], when: datetime | None) -> None:
    """Sets the records of bullets: which messages they rest on, and when these were said."""
    stamp = when.isoformat(timespec="seconds") if when else ""
    for bullet in bullets:
        name = content_id(work.notes.key, bullet_text(bullet.text))
        sources = bullet.sources[-MOST_SOURCES:]
        work.records[record_name(File.HISTORY, name)] = Record(
            Trust.INFERRED, "history", sources, when=bullet.when or stamp
        )


def _set_section(work: AppliedDraft, op: SetSection) -> str:
    """Replaces the runtime's lines of a section; lines of people stay."""
    draft = work.draft(File.SESSION)
    title = _title(work, op, draft.titles)
    plain = section_of(op.title) == "Session Title"
    readable = paragraph_text if plain else bullet_text
    items = list(filter(None, dict.fromkeys(map(readable, op.items))))
    entries = work.notes.session.entries
    here = [white_folded(entry.text) for entry in entries if entry.section == title]
    ours = {text for text in here if _standard(title) in _sections_of(work, text)}
    # What stands there besides is a person's, also where an answer repeats it.
    of_people = set(here) - ours
    if draft.fill(title, items, lambda text: white_folded(text) in ours, plain=plain):
        change = Change("section", File.SESSION, title, "\n".join(here), "\n".join(items))
        work.changes.append(change)
        _drop_records(work, title, draft.text())
        for text in items:
            if text not in of_people:
                _record_line(work, text, {*_sections_of(work, text), _standard(title)})
    return ""


def _standard(title: str) -> str:
    """A section's standard name, whatever language its heading is in."""
    return section_of(title) or title


def _sections_of(work: AppliedDraft, text: str) -> set[str]:
    """The sections of SESSION.md into which the runtime wrote a line.

    Records of earlier versions do not tell: all in which it stands.
    """
    name = _session_name(work, text)
    record = work.records.get(name, work.notes.ledger.records.get(name))
    if record is None or record.sections:
        return set(record.sections) if record else set()
    entries = work.notes.session.entries
    return {_standard(entry.section) for entry in entries if entry.record_name == name}


def _record_line(work: AppliedDraft, text: str, sections: set[str]) -> None:
    """Sets the record of a line of SESSION.md; without a section it has none."""
    record = Record(Trust.INFERRED, kind="session", sections=tuple(sorted(sections)))
    work.records[_session_name(work, text)] = record if sections else None


def _title(work: AppliedDraft, op: SetSection, present: Sequence[str]) -> str:
    """The heading of `present` that a section goes under, or a new one in the file's language."""
    standard = section_of(op.title)
    if standard is None:
        return op.title
    return title_for(standard, present, work.said_in(File.SESSION, " ".join(op.items)))


def _drop_records(work: AppliedDraft, title: str, new_text: str) -> None:
    """Drops the records of the lines that go, or the ledger would grow with every refresh.

    A line that the runtime wrote into another section as well keeps its record for that one.
    """
    note = Note.read(File.SESSION, new_text, work.notes.key)
    standing = {entry.id for entry in note.entries if entry.section == title}
    for entry in work.notes.session.entries:
        sections = _sections_of(work, entry.text)
        if entry.section == title and entry.id not in standing and sections:
            _record_line(work, entry.text, sections - {_standard(title)})


def _session_name(work: AppliedDraft, text: str) -> str:
    """The name of a line's record; a line of a person has none."""
    return record_name(File.SESSION, content_id(work.notes.key, text))
