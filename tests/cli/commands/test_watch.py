"""`pipimem watch`, as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec import structs
from pipimem.store.schedule import Schedule
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

# A daemon that hangs must not hang the tests; nothing here takes longer than its start.
DAEMON_SECONDS = 60


@contextmanager
def watching(
    bot: Path, *words: str, model: str = "offline", **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """The daemon on a workspace, once it says that it watches."""
    command = [
        sys.executable,
        "-m",
        "pipimem",
        "--workspace",
        str(bot),
        "--model",
        model,
        "watch",
        *words,
    ]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
    ) as daemon:
        try:
            assert daemon.stderr is not None
            assert daemon.stderr.readline().startswith("watching ")
            yield daemon
        finally:
            daemon.kill()


def quick(bot: Path) -> None:
    (bot / "pipimem.toml").write_text("[maintenance]\nidle_seconds = 0\n", encoding="utf-8")


def left_over(call: Call, conversation: Path, *channels: str) -> None:
    """Talk that nobody thought about."""
    for channel in channels:
        call("replay", channel, str(conversation), model="nosuch/model")


def test_each_job_done_is_a_line(call: Call, bot: Path, conversation: Path) -> None:
    """JSON on standard output, of what was done and not of what was not; the end is told and
    clean.
    """
    quick(bot)
    left_over(call, conversation, "room")
    with watching(bot, "--json") as daemon:
        assert daemon.stdout is not None
        line, history = (json.loads(daemon.stdout.readline()) for _ in range(2))
        daemon.send_signal(signal.SIGTERM)
        out, err = daemon.communicate(timeout=DAEMON_SECONDS)
    assert (line["channel"], line["job"], line["ran"]) == ("room", "consolidate", True)
    assert (history["job"], history["reason"]) == ("history", "a day is over")
    assert set(line) == {"time", "channel", "job", "ran", "reason", "did", "due"}
    assert (line["did"]["section"], line["did"]["added"]) > (0, 0)
    assert (out, err, daemon.returncode) == ("", "stopped; the files are whole\n", 0)


def test_a_line_for_eyes_says_the_same(call: Call, bot: Path, conversation: Path) -> None:
    """On standard error, with the time first."""
    quick(bot)
    left_over(call, conversation, "room")
    with watching(bot) as daemon:
        assert daemon.stderr is not None
        line = daemon.stderr.readline().split(" ", 1)
    assert line[0][:2] == "20"
    assert line[1].startswith("room consolidate done: ")
    assert " section" in line[1]


def test_a_second_watch_is_refused_and_told_who_is_first(call: Call, bot: Path) -> None:
    """One process looks after a workspace; the other one names it and what to do."""
    with watching(bot) as daemon:
        second = call("watch")
    assert second.code == 1
    assert f"process {daemon.pid} (python -m pipimem)" in second.err
    assert "does the idle work of" in second.err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_a_model_thinks(
    number: signal.Signals, call: Call, bot: Path, conversation: Path
) -> None:
    """The model call is cancelled and in the ledger, nothing is half committed, and the next start
    goes on with it.
    """
    quick(bot)
    left_over(call, conversation, "room")

    def respond(request: ChatRequest) -> Reply:
        return Reply("{}", delay=2 * DAEMON_SECONDS)

    with OpenAIServer(respond) as server:
        keys = {"OPENAI_API_BASE": f"{server.url}/v1", "OPENAI_API_KEY": "x"}
        with watching(bot, model="openai/test", **keys) as daemon:
            deadline = time.monotonic() + DAEMON_SECONDS
            while not server.requests and time.monotonic() < deadline:
                time.sleep(0.02)
            before = notes(bot)
            daemon.send_signal(number)
            daemon.communicate(timeout=DAEMON_SECONDS)
    assert daemon.returncode == 0
    assert notes(bot) == before
    attempts = [line for line in usage(bot) if line["model"] == "openai/test"]
    assert [(line["channel"], line["task"]) for line in attempts] == [("room", "consolidate")]
    assert "room" in Schedule.load(WorkspaceStore.open(bot).state).visits


def usage(bot: Path) -> list[dict[str, object]]:
    return [structs.asdict(call) for call in WorkspaceStore.open(bot).usages()]


def notes(bot: Path) -> dict[str, bytes]:
    """Everything of the channel."""
    return {
        str(path): path.read_bytes() for path in (bot / "channels").rglob("*") if path.is_file()
    }
