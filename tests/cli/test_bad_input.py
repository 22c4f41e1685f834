"""Whatever is handed in: a clear sentence, exit 1, nothing lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call, snapshot


def test_an_unknown_setting_gets_a_hint(call: Call, bot: Path) -> None:
    """No command goes on with settings that are only half understood."""
    (bot / "pipimem.toml").write_text("[recall]\ninjekt = 3\n")
    for words in (("recall", "room", "x"), ("remember", "room", "x is y"), ("status",)):
        told = call(*words)
        assert (told.code, "unknown key 'injekt'; did you mean 'inject'?" in told.err) == (1, True)
    assert list((bot / "channels").iterdir()) == []


def test_an_option_on_the_wrong_side_is_told_its_place(call: Call) -> None:
    """`--workspace` and `--model` belong to pipimem, not to a command."""
    for option in ("--workspace", "--model"):
        told = call("status", option, "x")
        assert (told.code, f"{option} stands before the command" in told.err) == (2, True)
    assert "No such option" in call("status", "--wrokspace", "x").err


def test_a_folder_that_is_no_workspace_is_told_how_to_become_one(
    call: Call, tmp_path: Path
) -> None:
    """Absent, a file, or some other folder: each sentence names `pipimem init`, and nothing is
    made.
    """
    (tmp_path / "other").mkdir()
    (tmp_path / "file").touch()
    for name in ("absent", "other", "file"):
        told = call("remember", "room", "x is y", workspace=tmp_path / name)
        assert (told.code, "pipimem init" in told.err) == (1, True)
    assert list((tmp_path / "other").iterdir()) == []
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../escape",
        "cid6KeBB/AZ==",
        "A",
        "a",
        "con",
        "群聊 🚀",
        "x" * 1000,
        "..",
        "-",
        "a\nb",
        "bad\udce9",
    ],
)
def test_channel_ids_from_hell_are_channels_like_others(call: Call, bot: Path, name: str) -> None:
    """They get a folder of their own below channels/, and are found under their true id."""
    assert call("remember", "--", name, "The port is 8080").code == 0
    assert "8080" in call("recall", "--json", "--", name, "port 8080").out
    (folder,) = (bot / "channels").iterdir()
    assert (folder / "MEMORY.md").is_file()
    assert [path.name for path in bot.parent.iterdir()] == ["bot"]


def test_an_empty_channel_id_is_refused(call: Call) -> None:
    """There is no conversation without an id."""
    told = call("remember", "", "x is y")
    assert (told.code, "The channel id is empty" in told.err) == (1, True)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\x89PNG\r\n\x00\x00", "not a text: it has NUL bytes"),
        ("- caf\u00e9\n".encode("latin-1"), "line 1: not UTF-8"),
        (b"- a line\n" * 12_000_000, "a note may have"),
    ],
    ids=["binary", "latin-1", "100 MB"],
)
def test_what_is_no_markdown_is_told_and_left_alone(
    call: Call, bot: Path, caplog: pytest.LogCaptureFixture, content: bytes, sentence: str
) -> None:
    """What it had before serves, with a warning that names the file; its bytes stay."""
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_bytes(content)
    for words in (
        ("recall", "room", "port"),
        ("remember", "room", "The port of the lift is 9090"),
        ("recall", "room", "port"),
    ):
        caplog.clear()
        told = call(*words)
        assert (told.code, f"{memory}" in caplog.text, sentence in caplog.text) == (0, True, True)
    assert ("8080" in told.out, "9090" in told.out) == (True, True)
    told = call("show", "room", "memory")
    assert (told.code, f"{memory}" in told.err, sentence in told.err) == (1, True, True)
    assert memory.read_bytes() == content


def test_a_read_only_file_is_told(call: Call, bot: Path) -> None:
    """Whoever took the right to write away meant it."""
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.chmod(0o400)
    before = memory.read_bytes()
    told = call("remember", "room", "x is y")
    assert (told.code, "No permission" in told.err) == (1, True)
    assert memory.read_bytes() == before


def test_a_full_disk_is_told_and_nothing_is_lost(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch, conversation: Path
) -> None:
    """The files are what they were before the call, and the call works once there is room."""
    call("remember", "room", "The port is 8080")
    call("replay", "room", str(conversation))
    folder = bot / "channels/room"
    before = {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file()}
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    told = call("remember", "room", "x is y")
    monkeypatch.setattr(os, "write", write)
    assert (told.code, "The disk is full" in told.err) == (1, True)
    assert {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file()} == before
    assert call("remember", "room", "x is y").code == 0


def test_a_link_out_of_the_workspace_is_not_followed(
    call: Call, bot: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A symlinked note may not lead reading to somebody else's files."""
    secret = tmp_path / "elsewhere.md"
    secret.write_text("- somebody else's port 8080\n")
    (bot / "channels" / "room").mkdir()
    (bot / "channels" / "room" / "MEMORY.md").symlink_to(secret)
    before = snapshot(bot)
    told = call("recall", "room", "port 8080")
    assert ("8080" in told.out, "leads out of the workspace" in caplog.text) == (False, True)
    assert snapshot(bot) == before


PRINTING = (
    ("--help",),
    ("--version",),
    ("show", "--help"),
    ("show", "room"),
    ("log", "room"),
    ("blame", "room"),
    ("status",),
    ("doctor",),
)


def printed_to(redirection: str, bot: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and standard error of a command whose standard output a shell sent elsewhere."""
    command = [sys.executable, "-m", "pipimem", "--workspace", str(bot), *words]
    shell = ["sh", "-c", f'"$@" {redirection}', "sh", *command]
    result = subprocess.run(shell, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return result.returncode, result.stderr


@pytest.mark.skipif(os.name == "nt", reason="there a shell closes no streams")
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_a_closed_standard_output_ends_no_command(
    words: tuple[str, ...], call: Call, bot: Path
) -> None:
    """What is printed goes nowhere."""
    call("remember", "room", "tea is at four")
    code, said = printed_to(">&-", bot, words)
    assert (code, "Error" in said) == (0, False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_an_answer_that_the_disk_has_no_room_for_is_one_sentence(
    words: tuple[str, ...], call: Call, bot: Path
) -> None:
    """As when it is sent into a file."""
    call("remember", "room", "tea is at four")
    code, said = printed_to("> /dev/full", bot, words)
    assert code == 1
    assert said.splitlines()[-1] == f"pipimem: the system refused: {os.strerror(errno.ENOSPC)}"
    assert "Traceback" not in said


@pytest.mark.skipif(os.name == "nt", reason="there is no head")
@pytest.mark.parametrize("words", PRINTING, ids=" ".join)
def test_who_reads_no_further_ends_a_command_quietly(
    words: tuple[str, ...], call: Call, bot: Path
) -> None:
    """As `| head` does, once it has its lines."""
    call("remember", "room", "tea is at four")
    _, said = printed_to("| true", bot, words)
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
