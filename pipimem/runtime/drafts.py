"""What a person's draft changes of a text of which they saw no secrets and nothing private."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipimem.errors import PipimemError
from pipimem.text.markdown.line_edits import Splice, spliced_lines, splices_between
from pipimem.text.markdown.lines import line_ending, split_lines
from pipimem.text.markdown.parser import parsed
from pipimem.text.private import has_mark
from pipimem.text.secrets.marks import mark_pattern

_HIDDEN = (
    "a line that you changed has something hidden in it, which would be lost. Take the whole entry "
    "out, or edit the file in an editor"
)
_HIDDEN_LINES = (
    "the file hides something that goes over several lines: edit it in an editor, or change one "
    "entry at a time"
)


def with_newlines(text: str) -> str:
    """The text with `\\n` for each line end, as the field of a form has it.

    Without NUL, with which a file is no text to anybody: it may be pasted into a field.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def with_draft(raw: str, shown: str, draft: str) -> str:
    """`raw` with the lines that `draft` has otherwise than `shown`, which is `raw` as it was seen.

    Line ends of other lines stay as they are, and so does what `shown` hides. Raises `PipimemError`
    where a changed line would have the mark in the place of what it hides.
    """
    lines, seen = split_lines(raw), split_lines(with_newlines(shown))
    if len(lines) != len(seen):
        raise PipimemError(f"Nothing was saved: {_HIDDEN_LINES}.")
    eol = line_ending(lines)
    changed = []
    for splice in splices_between("".join(seen), with_newlines(draft)):
        end = splice.start + len(splice.removed)
        originals = lines[splice.start : end]
        _refuse_lost(originals, splice)
        added = tuple(line.replace("\n", eol) for line in splice.added)
        changed.append(Splice(splice.start, originals, added))
    return "".join(spliced_lines(lines, changed))


def _refuse_lost(originals: Sequence[str], splice: Splice) -> None:
    """Raises `PipimemError` where a mark would be written over what it stands for."""
    hides = any(
        with_newlines(line) != seen for line, seen in zip(originals, splice.removed, strict=True)
    )
    if hides and any(has_mark(line) or mark_pattern()().search(line) for line in splice.added):
        raise PipimemError(f"Nothing was saved: {_HIDDEN}.")


def replaced_lines(text: str, start: int, end: int, change: Callable[[str], str]) -> str:
    """The text with the lines `[start, end)` changed as one; an empty result takes them out."""
    lines = split_lines(text)
    source = "".join(lines[start:end])
    changed = change(source)
    if not changed.strip():
        changed = ""
    elif source.endswith(("\n", "\r")) and not changed.endswith(("\n", "\r")):
        changed += line_ending(lines)
    return "".join((*lines[:start], changed, *lines[end:]))


def with_block(text: str, section: str, source: str) -> str:
    """The text with some lines at the end of a section, or at its own end without that section."""
    document = parsed(text)
    at = len(document.lines)
    for each in document.sections:
        if each.title == section:
            blocks = [block for block in each.blocks if block.text.strip()]
            at = blocks[-1].end if blocks else each.end
    before = "".join(document.lines[:at])
    if before and not before.endswith("\n"):
        before += "\n"
    return f"{before}{source.rstrip()}\n{''.join(document.lines[at:])}"
