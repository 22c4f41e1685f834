"""Blocks of HISTORY.md, added and folded."""

from __future__ import annotations

from pipimem.notes.carried_out.work import Work, lines_of
from pipimem.notes.files import File
from pipimem.notes.history import block_heading, blocks, month_heading
from pipimem.notes.notes import Change
from pipimem.notes.operations import AddBlock, FoldBlocks
from pipimem.notes.sections import bullet_text, heading_text


def add_block(work: Work, op: AddBlock) -> str:
    """A block at the end of the file."""
    texts = [text for bullet in op.bullets if (text := bullet_text(bullet.text))]
    if not texts:
        return "the block has no bullets"
    heading = block_heading(op.start, op.end, heading_text(op.title))
    draft = work.draft(File.HISTORY)
    if heading in draft.titles:
        # Two boundaries within a minute, or a hole filled later: one block, nothing twice.
        told = {entry.text for entry in work.notes.history.entries if entry.section == heading}
        texts = [text for text in texts if text not in told]
        if not texts:
            return "the block stands there already"
    draft.put(heading, texts)
    work.note_bullets(op.bullets, op.end)
    work.changes.append(Change("block", File.HISTORY, heading, after="\n".join(texts)))
    return ""


def fold(work: Work, op: FoldBlocks) -> str:
    """Blocks become one of a month; their text goes to the archive."""
    note = work.notes.history
    wanted = [block for block in blocks(note) if block.heading in op.headings]
    if len({block.heading for block in wanted}) < len(op.headings):
        return "a block to fold stands there no more"
    texts = [text for bullet in op.bullets if (text := bullet_text(bullet.text))]
    draft = work.draft(File.HISTORY)
    heading = month_heading(op.month, heading_text(op.title))
    first = wanted[0].section
    draft.replace(
        first.start, first.end, [f"## {heading}", "", *(f"- {text}" for text in texts), ""]
    )
    for block in wanted[1:]:
        draft.remove(block.section.start, block.section.end)
    originals = [block for block in wanted if not block.month]
    work.archived += "".join(
        lines_of(note, block.section.start, block.section.end) for block in originals
    )
    work.note_bullets(op.bullets, wanted[-1].end)
    work.changes.append(
        Change("folded", File.HISTORY, heading, "\n".join(op.headings), "\n".join(texts))
    )
    return ""
