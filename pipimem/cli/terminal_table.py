"""Tables that fit a terminal, printed with rich."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import gt

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

# Columns of a terminal that a name may take; ids, files, times and jobs are shorter. A text should
# have so many.
_NAME, _TEXT = 24, 30
# Narrower than this a text is a column of single words.
_NARROW_TEXT = 20
_GAP = 2
_NUMBER = re.compile(r"[0-9][0-9.,]*")


def print_table(columns: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal; the first cell of each column is its head.

    Numbers stand on the right of their columns.
    """
    console = Console()
    if not _has_room(columns, console.width):
        _blocks(console, columns)
        return
    grid = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column, width in zip(columns, _widths(columns, console.width), strict=True):
        grid.add_column(
            column[0],
            overflow="fold",
            width=width,
            style="" if grid.columns else "cyan",
            justify="right" if _are_numbers(column[1:]) else "left",
        )
    for row in zip(*(column[1:] for column in columns), strict=True):
        grid.add_row(*map(Text, row))
    console.print(grid)


def _are_numbers(cells: Iterable[str]) -> bool:
    """Whether all cells that are not empty are numbers, and there are some."""
    filled = list(filter(None, cells))
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))


def _has_room(columns: Sequence[Sequence[str]], room: int) -> bool:
    """Whether the table fits with no word broken, and a text at its end wide enough to be read."""
    words = [min(_longest_word(column), _NAME) for column in columns]
    if max(map(cell_len, columns[-1])) > _NAME:
        words[-1] = max(words[-1], _NARROW_TEXT)
    return sum(words) + _GAP * (len(columns) - 1) <= room


def _blocks(console: Console, columns: Sequence[Sequence[str]]) -> None:
    """Print each row on lines of its own: its name, others by their heads, a text at the end."""
    heads = [column[0] for column in columns]
    has_text = max(map(len, columns[-1][1:]), default=0) > _NAME
    for name, *cells in zip(*(column[1:] for column in columns), strict=True):
        text = cells.pop() if has_text else ""
        named = zip(heads[1:], cells, strict=False)
        shown = " · ".join(f"{head} {cell}".strip() for head, cell in named if cell)
        console.print(Text.assemble((name, "cyan"), "  ", shown))
        if text:
            console.print(Padding(Text(text), (0, 0, 0, _GAP)))


def _widths(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """How wide each column is, in cells of a terminal that has `room` of them.

    Texts are folded first, then names between their words, and words only at the last.
    """
    widths = [max(map(cell_len, column)) for column in columns]
    words = map(_longest_word, columns)
    room -= _GAP * (len(columns) - 1)
    for floors in zip(*map(_floors, widths, words), strict=True):
        _shrink(widths, floors, room)
    return widths


def _floors(width: int, word: int) -> tuple[int, ...]:
    """How narrow a column may become, in four steps; `word` is its longest one."""
    last = min(word, _NAME), 1
    if width <= _NAME:
        return width, word, *last
    text = min(width, max(word, _TEXT))
    return text, text, *last


def _longest_word(column: Iterable[str]) -> int:
    return max(cell_len(word) for cell in column for word in cell.split() or [""])


def _shrink(widths: list[int], floors: Sequence[int], room: int) -> None:
    """Take from the widest column that is above its floor, until all fit or none is left."""
    while sum(widths) > room and any(map(gt, widths, floors)):
        above = [place for place, floor in enumerate(floors) if widths[place] > floor]
        widths[max(above, key=widths.__getitem__)] -= 1
