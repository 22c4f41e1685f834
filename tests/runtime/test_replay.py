"""A recorded conversation fed through the real runtime."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pipimem import Pipimem
from pipimem.errors import TranscriptError
from pipimem.runtime.replay import EventTime, Replayed, recorded, replay

from tests.changes import changes_of
from tests.runtime.building import settings, workspace

EXAMPLE = Path(__file__).parents[2] / "examples" / "release-room.jsonl"
FILES = ("SESSION.md", "MEMORY.md", "HISTORY.md", "HISTORY.archive.md", "log.jsonl")


def texts(root: Path, channel: str = "room") -> dict[str, str]:
    """What people see of a channel; the tag of a masked secret is made with the channel's key."""
    folder = root / "channels" / channel
    return {
        name: re.sub(
            r"(\[secret:[a-z-]+):[0-9a-f]{4}\]", r"\1]", (folder / name).read_text("utf-8")
        )
        for name in FILES
        if (folder / name).exists()
    }


async def replayed(root: Path) -> Replayed:
    messages, when = recorded(EXAMPLE), EventTime()
    async with Pipimem(root, "offline", settings=settings(), clock=when.clock()) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        return await replay(channel, messages, when, compact_every=30, maintain=True)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_second_replay_adds_nothing(tmp_path: Path) -> None:
    """Messages are known by id, windows by the cursor: the files stay as they are to the byte."""
    root = workspace(tmp_path)
    first = await replayed(root)
    before = texts(root)
    second = await replayed(root)
    assert (first.new, second.new) == (150, 0)
    assert first.compactions == 4
    assert second.compactions == 0
    assert texts(root) == before


@pytest.mark.slow
@pytest.mark.anyio
async def test_what_matters_of_the_example_is_in_the_files(tmp_path: Path) -> None:
    """The newest release window, the rules people set, and no secret, private or injected word."""
    root = workspace(tmp_path)
    await replayed(root)
    found = texts(root)
    memory = found["MEMORY.md"]
    assert "Friday" in memory
    assert "生产库" in memory
    everything = "\n".join(found.values())
    for line in EXAMPLE.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["id"] in ("rr-053", "rr-104", "rr-056"):
            assert row["content"] not in everything
    assert "sk-proj-" not in everything


def written(root: Path) -> int:
    """Return how many bytes of talk there are of a channel."""
    path = root / "channels" / "room" / "log.jsonl"
    return path.stat().st_size if path.exists() else 0


@pytest.mark.slow
def test_killed_anywhere_and_replayed_it_ends_the_same(tmp_path: Path) -> None:
    """kill -9 in the middle, three times: the replay goes on where it stopped and ends in the
    very same files.
    """
    command = [sys.executable, "-m", "pipimem", "--workspace"]
    rest = [
        "replay",
        "room",
        str(EXAMPLE),
        "--kind",
        "group",
        "--compact-every",
        "30",
        "--maintain",
    ]
    whole, cut = workspace(tmp_path / "a"), workspace(tmp_path / "b")
    subprocess.run([*command, str(whole), *rest], check=True, capture_output=True)
    for share in (0.2, 0.5, 0.8):
        process = subprocess.Popen(
            [*command, str(cut), *rest], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while written(cut) < share * written(whole) and process.poll() is None:
            time.sleep(0.005)
        assert process.poll() is None
        process.kill()
        process.wait()
    subprocess.run([*command, str(cut), *rest], check=True, capture_output=True)
    assert texts(cut) == texts(whole)


# The process ends as soon as the state has a change of this number; the files have it not yet.
KILLED = """
import os, sys
from pipimem.cli import main
from pipimem.state.channel_state import ChannelState

append, last = ChannelState.append, int(sys.argv.pop(1))

def killed(state, changes, *rest):
    append(state, changes, *rest)
    if changes[-1].sequence == last:
        os._exit(9)

ChannelState.append = killed
main()
"""


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_killed_in_its_last_commit_it_is_finished_by_the_next(tmp_path: Path) -> None:
    """Which has nothing else to write."""
    whole, cut = workspace(tmp_path / "a"), workspace(tmp_path / "b")
    await replayed(whole)
    last = changes_of(whole)[-1]["sequence"]
    rest = ["--workspace", str(cut), "--model", "offline", "replay", "room", str(EXAMPLE)]
    rest += ["--kind", "group", "--compact-every", "30", "--maintain"]
    ended = subprocess.run([sys.executable, "-c", KILLED, str(last), *rest], check=False)
    assert ended.returncode == 9
    assert texts(cut) != texts(whole)
    await replayed(cut)
    assert texts(cut) == texts(whole)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{not json", "line 2: not JSON"),
        ("[1]", "line 2: must be an object"),
        ('{"role": "user"}', "line 2: 'content' must be a string"),
        ('{"role": "boss", "content": "x"}', "line 2: role 'boss' must be one of"),
        (
            '{"role": "user", "content": "x", "ts": "yesterday"}',
            "line 2: ts 'yesterday' is not an ISO 8601 time",
        ),
        (
            '{"role": "user", "content": "x", "ts": "0001-01-01T00:00:00+14:00"}',
            "is outside the years 100 to 9899",
        ),
        ("[" * 100_000, "line 2: not JSON"),
        (
            '{"role": "user", "content": "x", "id": 7}',
            "line 2: id, name and session must be strings",
        ),
    ],
)
def test_a_broken_line_is_named_before_anything_is_taken_in(
    tmp_path: Path, line: str, reason: str
) -> None:
    """The whole file is checked first."""
    path = tmp_path / "talk.jsonl"
    path.write_text('{"role": "user", "content": "fine"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(TranscriptError, match=reason.replace("[", r"\[")):
        recorded(path)


def test_messages_without_ids_are_known_by_their_place(tmp_path: Path) -> None:
    """So that a second replay of the same file adds nothing either."""
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"role": "user", "content": "a"}\r\n\r\n{"role": "assistant", "content": "b"}\r\n',
        encoding="utf-8",
    )
    first, third = (message.id for message in recorded(path))
    assert (first[:7], third[:7]) == ("talk:1-", "talk:3-")
    assert [message.id for message in recorded(path)] == [first, third]


def test_another_file_of_the_same_name_is_another_talk(tmp_path: Path) -> None:
    """Or its messages would count as known, and be lost without a word."""
    names = []
    for folder in ("monday", "tuesday"):
        path = tmp_path / folder / "export.jsonl"
        path.parent.mkdir()
        path.write_text(f'{{"role": "user", "content": "{folder}"}}\n', encoding="utf-8")
        names += [message.id for message in recorded(path)]
    assert len(set(names)) == 2


def test_a_time_before_all_calendars_is_named(tmp_path: Path) -> None:
    """No local time can be made of it, and the line's number is told as for any other."""
    path = tmp_path / "talk.jsonl"
    path.write_text(
        '{"role": "user", "content": "x", "ts": "0001-01-01T00:00:00"}\n', encoding="utf-8"
    )
    with pytest.raises(TranscriptError, match="line 1: ts"):
        recorded(path)
