"""Refresh: what is going on now, for SESSION.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from pipimem.memory.checked import checked_sheet
from pipimem.memory.masked import unmasked_sheet
from pipimem.memory.recalled_lines import without_recalled_lines
from pipimem.memory.trust import trusted_sheet
from pipimem.memory.window import Window
from pipimem.notes.headings import SECTIONS, section_of
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Author, Decision, LeftOut, Progress, SetSection
from pipimem.sidecar.sheet import MOST_LINES
from pipimem.sidecar.tasks import Assistant, Call, Refresh, Refreshed, answered, in_thread
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted

_ITEM_CHARS = 240
_STATE = "Current State"


def shown_sheet(session: Note) -> str:
    """The text of SESSION.md with the standard headings, by which an answer names its lists.

    Under 下一步 nobody would look for what is under "Next Steps".
    """
    lines = list(session.document.lines)
    for section in session.document.sections:
        standard = section_of(section.title) if section.level else None
        if standard not in (None, section.title):
            lines[section.start] = f"{'#' * section.level} {standard}{session.document.eol}"
    return "".join(lines)


def without_taken_out(
    sections: Mapping[str, Sequence[str]], session: Note
) -> Mapping[str, Sequence[str]]:
    """The lists of an answer; what it takes out of one stands under Current State no more.

    A promise stands under Next Steps and there: once it is kept, it is over in both. A list that is
    full may have pushed an item out that still stands.
    """
    before = _items(session)
    gone = set[str]()
    for title, items in sections.items():
        if title != _STATE and len(items) < MOST_LINES:
            gone.update(before.get(title, ()))
    for title, items in {**before, **sections}.items():
        if title != _STATE:
            gone.difference_update(items)
    state = sections.get(_STATE, before.get(_STATE, ()))
    if gone.isdisjoint(state):
        return sections
    return {**sections, _STATE: [item for item in state if item not in gone]}


def _items(session: Note) -> dict[str, list[str]]:
    """The lines of SESSION.md by the standard names of their headings."""
    found: dict[str, list[str]] = {}
    for entry in session.entries:
        found.setdefault(section_of(entry.section) or entry.section, []).append(entry.text)
    return found


async def refresh(
    assistant: Assistant, notes: Notes, window: Window, now: datetime, call: Call
) -> Decision:
    """The decision on SESSION.md after one window; a section the answer leaves out stays."""
    progress = Progress(refreshed=window.last)
    window = await in_thread(partial(without_recalled_lines, window, notes))
    if not window.messages:
        return Decision("refresh", Author.MODEL, progress=progress, correlation=call.correlation)
    task = Refresh(now, shown_sheet(notes.session), window.messages)
    answer = await answered(assistant, task, Refreshed, call)
    why = f"messages {window.first}–{window.last}"
    # Each sentence of the window is held against many patterns.
    judged = partial(_sheet, answer.sections, window, notes.ledger.speakers)
    sheet, refused = await in_thread(judged)
    sheet, unsaid = await in_thread(partial(checked_sheet, sheet, task))
    return Decision(
        "refresh",
        Author.MODEL,
        set_sections(sheet, notes.session),
        progress,
        why,
        call.correlation,
        left_out=(*refused, *unsaid),
    )


def _sheet(
    sections: Mapping[str, Sequence[str]],
    window: Window,
    people: Sequence[str],
) -> tuple[Mapping[str, Sequence[str]], tuple[LeftOut, ...]]:
    """The lines that may be written, without what tells of a secret, and those refused."""
    sheet, left_out = trusted_sheet(sections, window.talk(people))
    return unmasked_sheet(sheet, window.messages), left_out


def set_sections(sheet: Mapping[str, Sequence[str]], session: Note) -> tuple[SetSection, ...]:
    """The operations that write a sheet, items by section, in the order of the file."""
    sheet = without_taken_out(sheet, session)
    operations = []
    for title in SECTIONS:
        if title in sheet:
            items = [
                redacted(white_folded(item))[:_ITEM_CHARS] for item in sheet[title][:MOST_LINES]
            ]
            operations.append(SetSection(title, tuple(items)))
    return tuple(operations)
