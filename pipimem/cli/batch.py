"""What `recall` and `search` are asked: one question, or those of a file, all checked before the first is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from pipimem.cli.options import Chosen
from pipimem.cli.printing import Failed
from pipimem.errors import PipimemError
from pipimem.store.channel import ChannelStore

# What `-k` is where nothing is said: the deepest place that the scores look at.
BATCH_K = 10

batch = click.option(
    "--batch",
    metavar="FILE",
    help="Ask every line of a JSONL file with channel and query; - for standard input.",
)


@dataclass(frozen=True, slots=True)
class Question:
    """Whom it asks, what, and all fields of its line as they came, for the answer's line."""

    channel: str
    query: str
    fields: Mapping[str, object]


def questions(
    chosen: Chosen, channel: str | None, query: str | None, file: str | None
) -> list[Question]:
    """The one question of the command line, or those of a file (`-`: standard input).

    Raises `UsageError` for both and for neither, `Failed` for a broken line and an unknown channel of the file.
    """
    if file is None:
        if channel is None or query is None:
            raise click.UsageError("give CHANNEL and QUERY, or --batch FILE")
        return [Question(channel, query, {"channel": channel, "query": query})]
    if channel is not None:
        raise click.UsageError("--batch takes channel and query from its file")
    workspace = chosen.store()
    asked = _read(file)
    for name in dict.fromkeys(question.channel for question in asked):
        try:
            ChannelStore.open(workspace, name, create=False)
        except PipimemError as error:
            raise Failed(f"{error} Nothing was asked.") from error
    return asked


def _read(file: str) -> list[Question]:
    name = "standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failed(f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    return [
        _question(line, f"{name}, line {n}")
        for n, line in enumerate(text.split("\n"), 1)
        if line.strip()
    ]


def _question(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise Failed(f"{where}: not JSON ({error}); nothing was asked") from error
    match fields:
        case {"channel": str(channel), "query": str(query)}:
            return Question(channel, query, fields)
    raise Failed(
        f"{where}: must be an object with the strings channel and query; nothing was asked"
    )
