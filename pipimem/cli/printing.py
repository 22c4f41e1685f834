"""What commands print: tables for eyes, JSON lines for scripts."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

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


def say(text: str) -> None:
    """The answer of a command, for eyes."""
    click.echo(shown(text).encode())


def note(text: str) -> None:
    """What goes beside the answer: standard error, dimmed on a terminal."""
    click.secho(shown(text), err=True, dim=True)


def record(value: Mapping[str, object]) -> None:
    """One JSON object on a line of standard output, UTF-8 and not escaped."""
    # Backslashes make a lone surrogate the JSON escape of itself.
    click.echo(json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Columns with colour on a terminal, tab-separated lines elsewhere."""
    if not sys.stdout.isatty():
        for row in (head, *rows):
            click.echo("\t".join(map(one_line, row)).encode())
        return
    from rich.cells import cell_len  # 28 ms, only for a terminal
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, name in enumerate(head):
        # Names keep on one line; a text is folded, for what is cut off cannot be read anywhere.
        short = all(cell_len(shown(row[place])) <= _NAME for row in rows)
        grid.add_column(name, overflow="fold", no_wrap=short, style="cyan" if place == 0 else "")
    for row in rows:
        grid.add_row(*(Text(shown(cell)) for cell in row))
    Console().print(grid)


class Progress(Protocol):
    """Called with how much is done."""

    def __call__(self, done: int) -> None: ...


def _unseen(done: int) -> None:
    """Progress that nobody looks at."""


@contextmanager
def progress(what: str, total: int) -> Iterator[Progress]:
    """A bar on standard error while something long runs; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)
