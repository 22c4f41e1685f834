"""A block of Markdown that is still growing, line by line."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipimem.text.blocks import Kind
from pipimem.text.marks import dedented, indentation

# A line that stands this far to the right of an entry's marker belongs to the entry. CommonMark asks for the
# width of the marker: "1. a" above "  - b" are two lists there, but people who write it mean a sub-bullet.
INNER = 2


@dataclass(slots=True)
class Growing:
    """The block that is still growing."""

    kind: Kind
    start: int
    shown: list[str | None] = field(default_factory=list)
    """Its lines without comments; None for a line that is nothing but comment."""
    held: int = 0
    """How many of its lines are surely its own: blank lines at its end are not."""
    marker: str = ""
    inner: int = 0
    """The column from which on lines belong to the entry."""
    lazy: bool = False
    """Whether a line at the margin may go on with the entry's sentence."""
    fence: str = ""
    """The fence of the code we are in."""
    until: str = ""
    """The closing tag that ends a block of HTML; "" for a blank line."""
    quoted: bool = False
    spanning: bool = False
    """A comment began in the middle of one of its lines."""

    def hold(self, shown: str | None, *, firmly: bool = True) -> None:
        """Take one more line; not firmly if it may turn out to stand behind the block."""
        self.shown.append(shown)
        if firmly:
            self.held = len(self.shown)

    def entry_text(self) -> str:
        """What an entry says: no marker, no comments, moved to the left as far as its lines allow."""
        shown = self.shown[: self.held]
        if len(shown) == 1:
            return (shown[0] or "").strip()
        first, *more = [line.rstrip() for line in shown if line is not None]
        columns = [column for line in more if line and (column := indentation(line)) >= self.inner]
        margin = min(columns, default=0)
        return "\n".join([first.strip(), *(dedented(line, margin) for line in more)]).strip()
