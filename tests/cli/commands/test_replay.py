"""`pipimem replay`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Call, snapshot


def test_a_replay_becomes_files_and_says_what_it_did(
    call: Call, bot: Path, conversation: Path
) -> None:
    """The channel is made, its history told, its cost summed; people's files stay as they were."""
    user_files = {name: (bot / name).read_bytes() for name in ("SOUL.md", "AGENTS.md", "MEMORY.md")}
    told = call(
        "replay",
        "room",
        str(conversation),
        "--kind",
        "group",
        "--compact-every",
        "4",
        "--maintain",
        "--json",
    )
    assert told.code == 0
    report = told.object
    assert (report["messages"], report["new"], report["turns"], report["compactions"]) == (
        6,
        6,
        3,
        1,
    )
    assert (report["backlog"], report["deferred"]) == (0, 0)
    assert [job["job"] for job in report["jobs"]] == [
        "consolidate",
        "refresh",
        "history",
        "expire",
        "tidy",
        "fold",
    ]  # type: ignore[attr-defined]
    history = (bot / "channels" / "room" / "HISTORY.md").read_text()
    assert "2026-03-02 09:00" in history
    assert {
        "path": str(bot / "channels/room/HISTORY.md"),
        "bytes": len(history.encode()),
    } in report["files"]  # type: ignore[operator]
    assert report["usage"]["calls"] == 0  # type: ignore[index]
    assert {name: (bot / name).read_bytes() for name in user_files} == user_files


def test_a_second_replay_adds_nothing(call: Call, bot: Path, conversation: Path) -> None:
    """Messages are known by id: not a byte of the channel's files changes."""
    call("replay", "room", str(conversation), "--compact-every", "4")
    names = ("log.jsonl", "SESSION.md", "MEMORY.md", "HISTORY.md")
    folder = bot / "channels" / "room"
    before = {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}
    told = call("replay", "room", str(conversation), "--compact-every", "4")
    assert (told.code, told.out.splitlines()[0]) == (0, "6 messages read, 0 new, 0 turns")
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_a_broken_line_is_named_and_nothing_is_half_done(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Line 7 is no JSON: exit 1, and no channel was made for the six before it."""
    with conversation.open("a") as file:
        file.write('{"role": "user", "content": \n')
    before = snapshot(bot)
    told = call("replay", "room", str(conversation))
    assert told.code == 1
    assert f"{conversation}, line 7: not JSON" in told.err
    assert snapshot(bot) == before


def test_every_kind_of_wrong_line_is_named(call: Call, tmp_path: Path) -> None:
    """No role, a role nobody knows, a time that is none, an id that is no string, no object at
    all.
    """
    good = {"role": "user", "content": "hello"}
    wrong = {
        "'role' must be a string": {"content": "x"},
        "role 'human' must be one of": good | {"role": "human"},
        "is not an ISO 8601 time": good | {"ts": "yesterday"},
        "id, name and session must be strings": good | {"id": 7},
        "must be an object": ["hello"],
    }
    for sentence, row in wrong.items():
        path = tmp_path / "wrong.jsonl"
        path.write_text(f"{json.dumps(good)}\n{json.dumps(row)}\n")
        told = call("replay", "room", str(path))
        assert (told.code, f"line 2: {sentence}" in told.err.replace("ts 'yesterday' ", "")) == (
            1,
            True,
        ), told.err


def test_a_file_that_is_absent_or_no_text_is_told(call: Call, tmp_path: Path) -> None:
    """A wrong path and a picture end with a sentence each."""
    told = call("replay", "room", str(tmp_path / "absent.jsonl"))
    assert (told.code, "cannot be read: No such file" in told.err) == (1, True)
    (tmp_path / "picture.jsonl").write_bytes(b"\x89PNG\r\n\xff\xfe")
    told = call("replay", "room", str(tmp_path / "picture.jsonl"))
    assert (told.code, "is not UTF-8 text (byte 0)" in told.err) == (1, True)


def test_without_a_key_the_talk_is_on_disk_and_consolidated_later(
    call: Call, bot: Path, conversation: Path
) -> None:
    """No model, no loss: exit 1 with what to set, and the offline rules pick up where it
    stopped.
    """
    told = call("replay", "room", str(conversation), model="openai/gpt-5-mini")
    assert told.code == 1
    assert (
        "6 messages are on disk but not consolidated: No key for openai/gpt-5-mini: set OPENAI_API_KEY"
        in told.err
    )
    assert len((bot / "channels" / "room" / "log.jsonl").read_text().splitlines()) == 6
    assert call("replay", "room", str(conversation)).code == 0
    assert call("status", "--json").object["channels"][0]["backlog"] == 0  # type: ignore[index]


def test_an_unknown_model_is_told(call: Call, conversation: Path) -> None:
    """The sentence names it and says how a model is written."""
    told = call("replay", "room", str(conversation), model="nosuch/model")
    assert told.code == 1
    assert "'nosuch/model' names no provider" in told.err


def test_replay_reads_standard_input(call: Call) -> None:
    """`-` in the place of a file."""
    told = call("replay", "room", "-", typed='{"role": "user", "content": "hello there"}\n')
    assert (told.code, told.out.startswith("1 message read, 1 new")) == (0, True), told.err
