"""`pipimem show`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_show_prints_one_file_byte_for_byte(call: Call, bot: Path) -> None:
    """Into a pipe goes what stands on disk, Windows line ends and all."""
    (bot / "channels" / "room").mkdir()
    text = "# 记忆\r\n- one\r\n- two"
    (bot / "channels" / "room" / "MEMORY.md").write_bytes(text.encode())
    assert call("show", "room", "memory").out.encode() in (
        text.encode(),
        text.replace("\r\n", "\n").encode(),
    )
    assert call("show", "room", "memory", "--json").object["text"] == text


def test_show_prints_the_three_files_with_their_paths(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Without a file, all that memory is."""
    call("replay", "room", str(conversation))
    out = call("show", "room").out
    assert [line.rpartition("/")[2] for line in out.splitlines() if line.startswith("── ")] == [
        "SESSION.md ──", "MEMORY.md ──", "HISTORY.md ──",
    ]  # fmt: skip


def test_show_log_prints_the_transcript(call: Call, conversation: Path) -> None:
    """A line a message, or a JSON line as in log.jsonl."""
    call("replay", "room", str(conversation))
    assert (
        call("show", "room", "log").out.splitlines()[4].endswith("林晓: 上线窗口定在周四晚上九点。")
    )
    assert call("show", "room", "log", "--json").lines[4]["id"] == "r4"


def test_a_wrong_file_name_is_misuse(call: Call) -> None:
    """The choices are told."""
    told = call("show", "room", "diary")
    assert (told.code, "archive" in told.err) == (2, True)


def test_show_log_takes_the_newest_and_one_session(call: Call, bot: Path, tmp_path: Path) -> None:
    """`-n` counts from the end, `--session` picks; both are for the log alone."""
    lines = [
        f'{{"id": "s{n}", "role": "user", "content": "word {n}", "session": "{n % 2}"}}'
        for n in range(6)
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines), encoding="utf-8")
    call("replay", "room", str(tmp_path / "talk.jsonl"))
    assert [line["id"] for line in call("show", "room", "log", "-n", "2", "--json").lines] == [
        "s4",
        "s5",
    ]
    shown = call("show", "room", "log", "--session", "1", "-n", "2", "--json").lines
    assert [line["id"] for line in shown] == ["s3", "s5"]
    assert call("show", "room", "memory", "-n", "2").code == 2


def test_log_gives_the_ids_that_other_commands_take(call: Call, conversation: Path) -> None:
    """And says of a forgotten message that it is, where an empty line would look like a fault."""
    call("replay", "room", str(conversation))
    call("forget", "room", "--message", "r2", "--yes")
    lines = call("show", "room", "log").out.splitlines()
    assert [line.split()[0] for line in lines] == ["r0", "r1", "r2", "r3", "r4", "r5"]
    assert lines[2].endswith(": (forgotten)")
    assert "Noted" in call("detail", "room", lines[3].split()[0]).out
