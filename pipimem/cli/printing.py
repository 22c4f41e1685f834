"""What commands say and ask: tables for eyes, JSON lines for scripts, one sentence where something fails."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from os import PathLike, fspath
from typing import IO, Any

import click

# A message may hold escape sequences or characters that reorder a line: a terminal must not obey them.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Columns of a terminal that a name may take; ids, files, times and jobs are shorter.
_NAME = 24


def shown(text: str) -> str:
    """The text with U+FFFD for all that a terminal would obey or could not print; tab and newline stay."""
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line, cut to `limit` characters (0: whole)."""
    folded = shown(" ".join(text.split()))
    return folded if not limit or len(folded) <= limit else folded[: limit - 1] + "…"


def counted(number: int, thing: str) -> str:
    """The number with its thing, in the singular for one: `1 message`, `2,000 messages`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def minute(time: str) -> str:
    """An ISO 8601 time to the minute, for eyes; empty stays empty."""
    return time[:16].replace("T", " ")


def say(text: str) -> None:
    """The answer of a command, for eyes."""
    click.echo(shown(text).encode())


def note(text: str) -> None:
    """What goes beside the answer: standard error, dimmed on a terminal."""
    click.secho(shown(text), err=True, dim=True)


def record(value: Mapping[str, object]) -> None:
    """One JSON object on a line of standard output, UTF-8 and not escaped."""
    line = json.dumps(value, ensure_ascii=False, default=_plain)
    # Backslashes make a lone surrogate the JSON escape of itself.
    click.echo(line.encode("utf-8", "backslashreplace"))


def _plain(value: datetime | PathLike[str]) -> str:
    """A time in ISO 8601 to the second, a path as it is written."""
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else fspath(value)


def fields(value: object, *names: str) -> dict[str, object]:
    """Some fields of a value for scripts, under their own names."""
    return {name: getattr(value, name) for name in names}


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "") -> None:
    """Columns with colour on a terminal, tab-separated lines elsewhere; `empty` is noted in the place of no rows."""
    cells = [[str(cell) for cell in row] for row in rows]
    if empty and not cells:
        note(empty)
        return
    if not sys.stdout.isatty():
        for row in (head, *cells):
            click.echo("\t".join(map(one_line, row)).encode())
        return
    from rich.cells import cell_len  # 28 ms, only for a terminal
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(head):
        # Names keep on one line; a text is folded, for what is cut off cannot be read anywhere.
        short = all(cell_len(shown(row[place])) <= _NAME for row in cells)
        grid.add_column(name, overflow="fold", no_wrap=short, style="cyan" if place == 0 else "")
    for row in cells:
        grid.add_row(*(Text(shown(cell)) for cell in row))
    Console().print(grid)


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

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - standard error, whatever click would choose
        """Say it."""
        click.echo(f"pipimem: {shown(self.message)}", err=True)


def worded(error: Exception) -> str:
    """An error as a sentence; the system's refusal with the file it is about."""
    if not isinstance(error, OSError):
        return str(error)
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else f"the system refused: {reason}"


def confirmed(question: str, otherwise: str) -> None:
    """Go on where a person says yes. Raises `Failed` with what was not done for a no, and where nobody can answer."""
    try:
        if click.confirm(question, err=True):
            return
    except click.Abort:
        raise Failed(
            f"{otherwise}: nobody answered. Say --yes to go on without being asked"
        ) from None
    raise Failed(otherwise)
