"""Refresh: what is going on now, for SESSION.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from pipimem.memory.injection_guard import sheet_without_injections
from pipimem.memory.masked import unmasked_sheet
from pipimem.memory.recalled_lines import without_recalled_lines
from pipimem.memory.sheet import MOST_ITEMS, shown_sheet, without_taken_out
from pipimem.memory.window import Window
from pipimem.notes.headings import SECTIONS
from pipimem.notes.message import Message
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision, Progress, SetSection
from pipimem.sidecar.tasks import Assistant, Call, Refresh, Refreshed, answered, in_thread
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted

_ITEM_CHARS = 240


async def refresh(
    assistant: Assistant, notes: Notes, window: Window, now: datetime, call: Call
) -> Decision:
    """The decision on SESSION.md after one window; a section the answer leaves out stays."""
    progress = Progress(refreshed=window.last)
    window = await in_thread(partial(without_recalled_lines, window, notes))
    if not window.messages:
        return Decision("refresh", Author.MODEL, progress=progress, correlation=call.correlation)
    answer = await answered(
        assistant, Refresh(now, shown_sheet(notes.session), window.messages), Refreshed, call
    )
    why = f"messages {window.first}–{window.last}"
    # Each sentence of the window is held against many patterns.
    judged = partial(_sheet, answer.sections, window.messages)
    operations = set_sections(await in_thread(judged), notes.session)
    return Decision("refresh", Author.MODEL, operations, progress, why, call.correlation)


def _sheet(
    sections: Mapping[str, Sequence[str]], messages: Sequence[Message]
) -> Mapping[str, Sequence[str]]:
    """The lines that may be written: not what instructs, nor what tells of a secret."""
    return unmasked_sheet(sheet_without_injections(sections, messages), messages)


def set_sections(sheet: Mapping[str, Sequence[str]], session: Note) -> tuple[SetSection, ...]:
    """The operations that write a sheet, items by section, in the order of the file."""
    sheet = without_taken_out(sheet, session)
    operations = []
    for title in SECTIONS:
        if title in sheet:
            items = [
                redacted(white_folded(item))[:_ITEM_CHARS] for item in sheet[title][:MOST_ITEMS]
            ]
            operations.append(SetSection(title, tuple(items)))
    return tuple(operations)
