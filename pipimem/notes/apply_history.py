"""Blocks of HISTORY.md, added and folded; each returns why it was refused, empty when done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pipimem.notes.apply_draft import MOST_SOURCES, AppliedDraft, lines_of
from pipimem.notes.entry import content_id
from pipimem.notes.files import File
from pipimem.notes.history import block_heading, blocks, month_heading
from pipimem.notes.ledger import Record
from pipimem.notes.note_draft import bullet_text, heading_text
from pipimem.notes.notes import Change
from pipimem.notes.operations import AddBlock, Bullet, FoldBlocks, Trust


def add_block(work: AppliedDraft, op: AddBlock) -> str:
    """Adds a block at the end of the file, or what it has beyond the block with this heading."""
    texts = _texts(op.bullets)
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
    _record(work, op.bullets, op.end)
    work.changes.append(Change("block", File.HISTORY, heading, after="\n".join(texts)))
    return ""


def fold(work: AppliedDraft, op: FoldBlocks) -> str:
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
    texts = _texts(op.bullets)
    heading = month_heading(op.month, heading_text(op.title))
    first = wanted[0].section
    lines = [f"## {heading}", "", *(f"- {text}" for text in texts), ""]
    draft.replace(first.start, first.end, lines)
    _record(work, op.bullets, wanted[-1].end)
    before, after = "\n".join(op.headings), "\n".join(texts)
    work.changes.append(Change("folded", File.HISTORY, heading, before, after))
    return ""


def _texts(bullets: Sequence[Bullet]) -> list[str]:
    texts = (bullet_text(bullet.text) for bullet in bullets)
    return [text for text in texts if text]


def _record(work: AppliedDraft, bullets: Sequence[Bullet], when: datetime | None) -> None:
    """Sets the records of bullets: which messages they rest on."""
    stamp = when.isoformat(timespec="seconds") if when else ""
    for bullet in bullets:
        name = content_id(work.notes.key, bullet_text(bullet.text))
        sources = bullet.sources[-MOST_SOURCES:]
        work.records[f"history:{name}"] = Record(Trust.INFERRED, "history", sources, when=stamp)
