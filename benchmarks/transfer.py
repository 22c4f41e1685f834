"""How long moving in and out takes, and how much memory: `python -m benchmarks.transfer`.

An import of 100,000 messages as a log and as a chat export, and an export and import of 1,000
channels. Each runs in a process of its own, through the command line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import Process
from pathlib import Path
from random import Random

from benchmarks.machine import heading

_BEGAN = datetime(2026, 1, 1, 9, tzinfo=UTC)
_SAID = (
    "Shall we put the release on Thursday at nine, or wait for the load test of the new gateway?",
    "上线窗口定在周四晚上九点，先把回滚方案写好，再通知客服。",
    "The staging database has port 5432 and the read replica 5433; ask Ann before you restart it.",
    "好的，我今天下午把压测报告发出来，重点看 p95 和错误率。",
    "I moved the invoices of March to the shared drive, and the ones of April are still open.",
    "Here is the plan: first the schema, then the backfill, then we switch reads over, one shard "
    "a day, and keep the old table for two weeks in case the counts differ.",
)


@dataclass(frozen=True)
class Measured:
    """What a command took: seconds, and the most memory it held in MB."""

    seconds: float
    megabytes: float


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--channels", type=int, default=1_000)
    chosen = parser.parse_args()
    print(heading("Moving in and out"))
    print("\n| what | seconds | MB at most |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _messages(root, chosen.messages)
        _channels(root, chosen.channels)


def _messages(root: Path, count: int) -> None:
    workspace = root / "messages"
    _pipimem("init", str(workspace))
    log, export = root / "log.jsonl", root / "conversations.json"
    _aside(_make_sources, log, export, count)
    for source, kind in ((log, "log"), (export, "chatgpt")):
        size = source.stat().st_size / 1e6
        what = f"{count:,} messages, {kind}, {size:.0f} MB"
        _row(f"dry run of {what}", _timed(workspace, "import", str(source), "--dry-run"))
        _row(f"import of {what}", _timed(workspace, "import", str(source)))
        _row("the same again", _timed(workspace, "import", str(source)))


def _channels(root: Path, count: int) -> None:
    made, other, archive = root / "a", root / "b", root / "all.zip"
    for workspace in (made, other):
        _pipimem("init", str(workspace))
    _aside(_fill, made, count)
    done = _timed(made, "export", str(archive))
    size = archive.stat().st_size / 1e6
    _row(f"export of {count:,} channels, {size:.1f} MB", done)
    _row(f"import of {count:,} channels", _timed(other, "import", str(archive)))


def _fill(root: Path, count: int) -> None:
    """Channels with 20 messages and 5 entries each."""
    from pipimem.notes.kinds import Kind
    from pipimem.notes.message import Message
    from pipimem.notes.operations import Add, Author, Decision, Evidence, Trust
    from pipimem.store.channel import ChannelStore
    from pipimem.store.workspace import WorkspaceStore

    workspace = WorkspaceStore.open(root)
    for number in range(count):
        channel = ChannelStore.open(workspace, f"群/{number}", create=True)
        said = [_SAID[(number + turn) % len(_SAID)] for turn in range(20)]
        channel.append(Message.user(text, time=_BEGAN, speaker="Ann") for text in said)
        evidence = Evidence(speaker="Ann", when=_BEGAN)
        texts = (f"{_SAID[(number + place) % len(_SAID)]} ({place})" for place in range(5))
        adds = tuple(Add(Kind.FACT, text, Trust.EXPLICIT, evidence) for text in texts)
        channel.commit(Decision("remember", Author.PERSON, adds), _BEGAN)
        channel.close()


def _make_sources(log: Path, export: Path, count: int) -> None:
    log.write_text("".join(_log(count)), encoding="utf-8")
    export.write_text(json.dumps(list(_conversations(count))), encoding="utf-8")


def _aside(work: Callable[..., None], *args: object) -> None:
    """Does work in a process of its own: what it takes would count as its children's memory."""
    child = Process(target=work, args=args)
    child.start()
    child.join()
    if child.exitcode:
        sys.exit("the sources could not be made")


def _log(count: int) -> Iterator[str]:
    for number in range(count):
        when = _BEGAN + timedelta(minutes=number)
        role = "assistant" if number % 2 else "user"
        content = f"{_SAID[number % len(_SAID)]} ({number})"
        row = {"role": role, "name": "Ann", "ts": when.isoformat(), "content": content}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _conversations(count: int) -> Iterator[dict[str, object]]:
    random = Random(7)
    for first in range(0, count, 40):
        began = _BEGAN + timedelta(minutes=first)
        nodes: dict[str, object] = {}
        parent = ""
        for number in range(first, min(first + 40, count)):
            name = str(uuid.UUID(int=random.getrandbits(128)))
            when = (began + timedelta(minutes=number - first)).timestamp()
            content = {"content_type": "text", "parts": [f"{_SAID[number % 6]} ({number})"]}
            author = {"role": "assistant" if number % 2 else "user"}
            message = {"id": name, "author": author, "create_time": when, "content": content}
            nodes[name] = {"id": name, "parent": parent or None, "children": [], "message": message}
            parent = name
        key = str(uuid.UUID(int=random.getrandbits(128)))
        head = {"conversation_id": key, "title": f"Talk {first}", "create_time": began.timestamp()}
        yield {**head, "mapping": nodes, "current_node": parent}


def _timed(workspace: Path, *words: str) -> Measured:
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "pipimem", "--workspace", str(workspace), *words],
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(words)} ended with {child.returncode}")
    return Measured(time.perf_counter() - began, usage.ru_maxrss / 1024)


def _pipimem(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pipimem", *words], check=True, capture_output=True)


def _row(what: str, done: Measured) -> None:
    print(f"| {what} | {done.seconds:.1f} | {done.megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
