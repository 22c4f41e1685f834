"""Refresh: what is going on now, for SESSION.md."""

from __future__ import annotations

from datetime import datetime

from pipimem.memory.window import Window
from pipimem.notes.kinds import SECTIONS
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Author, Decision, Progress, SetSection
from pipimem.sidecar.tasks import Assistant, Call, Refresh, Refreshed, answered
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted

_ITEM_CHARS = 240
_ITEMS = 8


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
    return Decision("refresh", Author.MODEL, _sections(answer), progress, why, call.correlation)


def _sections(answer: Refreshed) -> tuple[SetSection, ...]:
    return tuple(
        SetSection(
            title,
            tuple(
                redacted(white_folded(item))[:_ITEM_CHARS]
                for item in answer.sections[title][:_ITEMS]
            ),
        )
        for title in SECTIONS
        if title in answer.sections
    )
