"""Questions from a file, one JSON object a line, checked before the first is asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipimem.cli.failing import Failed
from pipimem.errors import PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

# What `-k` is where nothing is said: the deepest place that the scores look at.
BATCH_K = 10


@dataclass(frozen=True, slots=True)
class Question:
    """One line: whom it asks, what, and all its fields as they came, for the answer's line."""

    channel: str
    query: str
    fields: Mapping[str, object]


def questions(file: str, workspace: WorkspaceStore) -> list[Question]:
    """The questions of a file (`-`: standard input); a broken line or an unknown channel fails them all."""
    name = "standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Failed(f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    asked = [_question(line, f"{name}, line {n}") for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    _refuse_unknown(asked, workspace)
    return asked


def _refuse_unknown(asked: Sequence[Question], workspace: WorkspaceStore) -> None:
    for name in dict.fromkeys(question.channel for question in asked):
        try:
            ChannelStore.open(workspace, name, create=False)
        except PipimemError as error:
            raise Failed(f"{error} Nothing was asked.") from error


def _question(line: str, where: str) -> Question:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise Failed(f"{where}: not JSON ({error}); nothing was asked") from error
    match fields:
        case {"channel": str(channel), "query": str(query)}:
            return Question(channel, query, fields)
    raise Failed(f"{where}: must be an object with the strings channel and query; nothing was asked")
