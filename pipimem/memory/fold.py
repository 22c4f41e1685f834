"""Fold: the older blocks of HISTORY.md become one block a month, always made from the originals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from pipimem.errors import AnswerRefused
from pipimem.llm.request import ContextOverflow
from pipimem.notes.history import HistoryBlock, blocks
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Bullet, Decision, FoldBlocks
from pipimem.sidecar.tasks import Assistant, Call, Fold, Folded, answered
from pipimem.text.secrets import redacted

# The newest blocks stay as they are: recent days are asked about in detail.
KEEP = 3
_EVER = datetime.min.replace(tzinfo=UTC)


async def fold(assistant: Assistant, notes: Notes, archive: Note, call: Call) -> Decision:
    """The decision that folds every month with blocks older than the newest `KEEP`.

    A month folded before is folded anew from its archived originals and the newer blocks, never
    from its fold.
    """
    standing = blocks(notes.history)
    archived = _by_month(blocks(archive))
    unfolded = [block for block in standing if block.end and not block.month]
    older = sorted(unfolded, key=lambda block: block.end or _EVER)[:-KEEP]
    operations = []
    for month, fresh in sorted(_by_month(older).items()):
        originals = [*archived.get(month, ()), *fresh]
        folds = [block.heading for block in standing if block.month == month]
        headings = tuple(dict.fromkeys([*folds, *(block.heading for block in fresh)]))
        operations.append(await _folded(assistant, month, originals, headings, call))
    return Decision(
        "fold", Author.MODEL, tuple(operations), why="HISTORY.md grew", correlation=call.correlation
    )


async def _folded(
    assistant: Assistant,
    month: str,
    originals: Iterable[HistoryBlock],
    headings: tuple[str, ...],
    call: Call,
) -> FoldBlocks:
    bullets = {entry.id: entry.text for block in originals for entry in block.bullets}
    answer = await _shorter(assistant, Fold(month, tuple(bullets.items())), call)
    written = [bullet for bullet in answer.bullets if bullet.text.strip()]
    kept = tuple(Bullet(redacted(bullet.text), bullet.sources) for bullet in written)
    if not kept:
        raise AnswerRefused(f"the fold of {month} keeps nothing of {len(bullets)} bullets")
    return FoldBlocks(month, redacted(answer.title), kept, headings)


async def _shorter(assistant: Assistant, task: Fold, call: Call) -> Folded:
    """The answer; a month that is longer than the model can read is folded in halves."""
    try:
        return await answered(assistant, task, Folded, call)
    except ContextOverflow:
        middle = len(task.bullets) // 2
        if not middle:
            raise
        first = await _shorter(assistant, Fold(task.month, task.bullets[:middle]), call)
        second = await _shorter(assistant, Fold(task.month, task.bullets[middle:]), call)
        return Folded(first.title, (*first.bullets, *second.bullets))


def _by_month(found: Iterable[HistoryBlock]) -> dict[str, list[HistoryBlock]]:
    months: dict[str, list[HistoryBlock]] = defaultdict(list)
    for block in found:
        if block.end and not block.month:
            months[f"{block.end:%Y-%m}"].append(block)
    return months
