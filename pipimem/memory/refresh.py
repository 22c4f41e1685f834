"""Refresh: what is going on now, for SESSION.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pipimem.memory.window import Window
from pipimem.notes.kinds import SECTIONS
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Progress, SetSection
from pipimem.sidecar.tasks import Assistant, Call, Refresh, Refreshed, answered
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted

_ITEM_CHARS = 240
# As many as the prompt asks for.
_ITEMS = 6


async def refresh(
    assistant: Assistant, notes: Notes, window: Window, now: datetime, call: Call
) -> Decision:
    """The decision on SESSION.md after one window; a section the answer leaves out stays."""
    progress = Progress(refreshed=window.last)
    if not window.messages:
        return Decision("refresh", Author.MODEL, progress=progress, correlation=call.correlation)
    answer = await answered(
        assistant, Refresh(now, notes.session.text, window.messages), Refreshed, call
    )
    why = f"messages {window.first}–{window.last}"
    operations = set_sections(answer.sections)
    return Decision("refresh", Author.MODEL, operations, progress, why, call.correlation)


def set_sections(sheet: Mapping[str, Sequence[str]]) -> tuple[SetSection, ...]:
    """The operations that write a sheet, items by section, in the order of the file."""
    operations = []
    for title in SECTIONS:
        if title in sheet:
            items = [redacted(white_folded(item))[:_ITEM_CHARS] for item in sheet[title][:_ITEMS]]
            operations.append(SetSection(title, tuple(items)))
    return tuple(operations)
