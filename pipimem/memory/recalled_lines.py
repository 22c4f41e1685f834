"""Takes lines out of talk that repeat what memory had shown, so that they are not learnt again.

A block in its fence is known by its tag (`text/fence.py`); here are lines of it alone, as a host or
a person quotes them: cited, as a bullet, or in quotation marks, whole or cut off. Who says the same
without such a mark says it again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from msgspec import structs

from pipimem.memory.window import Window
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.text.fence import escaped
from pipimem.text.markdown.lines import white_folded
from pipimem.text.patterns import Pattern

# What marks a line as quoted, and who and when as a block puts them in front.
_MARK = Pattern(r"[\s>＞]*(?:[-*+•]\s+|[>＞]\s*|[“「『\"'`](?=.))")
_WHO_AND_WHEN = Pattern(r"\([^()\n]{1,120}\)\s+")
# Who and when as a block of a group puts them behind.
_BY_WHOM = Pattern(r"\s+— [^\n—]{1,120}\Z")
_CLOSING = "”」』\"'` "
# Of a line that was cut off so much must be left, in bytes: eight characters of Chinese.
_LEAST_CUT = 24


def without_recalled_lines(window: Window, notes: Notes) -> Window:
    """The window without such lines; a message of nothing else goes."""
    shown = frozenset(_shown_lines(notes))
    if not shown:
        return window
    messages = tuple(_cleaned(window.messages, shown))
    return structs.replace(window, messages=messages, before=tuple(_cleaned(window.before, shown)))


def _shown_lines(notes: Notes) -> Iterator[str]:
    """Each line of each entry, as it stands in its file and as a block shows it."""
    for note in (notes.memory, notes.session, notes.history, notes.workspace):
        for entry in note.entries:
            for line in entry.text.splitlines():
                folded = white_folded(line)
                if folded:
                    yield folded
                    yield white_folded(escaped(line))


def _cleaned(messages: Collection[Message], shown: frozenset[str]) -> Iterator[Message]:
    for message in messages:
        lines = message.content.splitlines()
        kept = [line for line in lines if not _is_recalled(line, shown)]
        if len(kept) == len(lines):
            yield message
        elif any(line.strip() for line in kept):
            yield replace(message, content="\n".join(kept).strip())


def _is_recalled(line: str, shown: frozenset[str]) -> bool:
    """Whether a line with a mark in front repeats one that is shown, or a long part of it."""
    mark = _MARK().match(line)
    if mark is None:
        return False
    text = line[mark.end() :]
    again = _MARK().match(text)
    text = white_folded(text[again.end() :] if again else text).rstrip(_CLOSING)
    behind = _BY_WHOM().search(text)
    if behind and text[: behind.start()] in shown:
        return True
    who = _WHO_AND_WHEN().match(text)
    said = text[who.end() :] if who else text
    if text in shown or said in shown:
        return True
    part = said.rstrip(".… ")
    return len(part.encode("utf-8", "replace")) >= _LEAST_CUT and any(part in one for one in shown)
