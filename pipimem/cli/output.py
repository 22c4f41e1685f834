"""What commands print: tables for people, JSON lines for scripts, one sentence for a failure."""

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

from pipimem.cli.log_lines import logged

# A message may hold escape sequences or characters that reorder a line: a terminal must not obey
# them.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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
    from difflib import get_close_matches  # 3 ms that no help needs

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
        from pipimem.cli.terminal_table import print_table  # rich: 28 ms, only for a terminal

        print_table([list(map(shown, column)) for column in zip(head, *cells, strict=True)])
    else:
        for row in (head, *cells):
            click.echo("\t".join(map(one_line, row)).encode())


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error while something long runs; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich import console, progress  # 35 ms, only for a terminal

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


class Failed(click.ClickException):
    """A command did not do what it was called for: one sentence says why and what helps; exit 1."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Say it on standard error."""
        if not logged(self.message, "ERROR"):
            click.echo(f"pipimem: {shown(self.message)}", err=True)
