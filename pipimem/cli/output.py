"""What commands print: tables for people, JSON lines for scripts, one sentence for a failure."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from operator import gt
from os import PathLike, fspath
from typing import IO, TYPE_CHECKING, Any

import click

from pipimem.cli.log_lines import logged

if TYPE_CHECKING:
    from rich.console import Console

# A message may hold escape sequences or characters that reorder a line: a terminal must not obey
# them.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Columns of a terminal that a name may take; ids, files, times and jobs are shorter. A text should
# have so many.
_NAME, _TEXT = 24, 30
# Narrower than this a text is a column of single words.
_NARROW_TEXT = 20
_GAP = 2
_NUMBER = re.compile(r"[0-9][0-9.,]*")


def shown(text: str) -> str:
    """The text with U+FFFD for all that a terminal would obey or could not print.

    Tab and newline stay.
    """
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, cut to `limit` characters (0: whole)."""
    folded = shown(" ".join(text.split()))
    if limit and len(folded) > limit:
        return folded[: limit - 1] + "…"
    return folded


def counted(number: int, thing: str, things: str = "") -> str:
    """The number with its thing: `1 message`, `2,000 messages`; `things` is another plural."""
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {things or thing + 's'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that looks most like a mistyped one, empty where none does."""
    from difflib import get_close_matches  # 6 ms, only where a name is unknown

    return next(iter(get_close_matches(name, list(known), n=1)), "")


def minute(time: str) -> str:
    """An ISO 8601 time to the minute, for eyes; empty stays empty."""
    return time[:16].replace("T", " ")


def say(text: str) -> None:
    """The answer of a command, for eyes."""
    click.echo(shown(text).encode())


def note(text: str) -> None:
    """What goes beside the answer: standard error, dimmed on a terminal, or a log line as JSON."""
    if not logged(text):
        click.secho(shown(text), err=True, dim=True)


def record(value: Mapping[str, object]) -> None:
    """One JSON object on a line of standard output, UTF-8 and not escaped."""
    line = json.dumps(value, ensure_ascii=False, default=_plain)
    # Backslashes make a lone surrogate the JSON escape of itself.
    click.echo(line.encode("utf-8", "backslashreplace"))


def records(values: Iterable[Mapping[str, object]]) -> None:
    """JSON objects on standard output, a line each."""
    for value in values:
        record(value)


def _plain(value: datetime | PathLike[str]) -> str:
    """A time in ISO 8601 to the second, a path as it is written."""
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else fspath(value)


def fields(value: object, *names: str) -> dict[str, object]:
    """Some fields of a value for scripts, under their own names."""
    return {name: getattr(value, name) for name in names}


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "") -> None:
    """Columns with colour on a terminal, tab-separated lines elsewhere.

    Without rows there is a note that says `empty`, if that is given.
    """
    cells = [list(map(str, row)) for row in rows]
    if empty and not cells:
        note(empty)
    elif sys.stdout.isatty():
        _grid(head, cells)
    else:
        for row in (head, *cells):
            click.echo("\t".join(map(one_line, row)).encode())


def _grid(head: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal; numbers stand on the right of their columns."""
    from rich.console import Console  # 28 ms, only for a terminal
    from rich.table import Table
    from rich.text import Text

    console = Console()
    columns = [list(map(shown, column)) for column in zip(head, *cells, strict=True)]
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
    from rich.cells import cell_len

    words = [min(_longest_word(column), _NAME) for column in columns]
    if max(map(cell_len, columns[-1])) > _NAME:
        words[-1] = max(words[-1], _NARROW_TEXT)
    return sum(words) + _GAP * (len(columns) - 1) <= room


def _blocks(console: Console, columns: Sequence[Sequence[str]]) -> None:
    """Print each row on lines of its own: its name, others by their heads, a text at the end."""
    from rich.padding import Padding
    from rich.text import Text

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
    from rich.cells import cell_len

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
    from rich.cells import cell_len

    return max(cell_len(word) for cell in column for word in cell.split() or [""])


def _shrink(widths: list[int], floors: Sequence[int], room: int) -> None:
    """Take from the widest column that is above its floor, until all fit or none is left."""
    while sum(widths) > room and any(map(gt, widths, floors)):
        above = [place for place, floor in enumerate(floors) if widths[place] > floor]
        widths[max(above, key=widths.__getitem__)] -= 1


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while something long runs; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


class Failed(click.ClickException):
    """A command did not do what it was called for: one sentence says why and what helps; exit 1."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Say it on standard error."""
        if not logged(self.message, "ERROR"):
            click.echo(f"pipimem: {shown(self.message)}", err=True)
