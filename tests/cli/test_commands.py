"""The command line as a whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import click
from pipimem import __version__
from pipimem.cli.commands import SHORT_HELP, Commands, pipimem, workspace_folder

from tests.cli.conftest import Call

_ALL = [
    "init",
    "chat",
    "replay",
    "recall",
    "search",
    "timeline",
    "detail",
    "show",
    "list",
    "conflicts",
    "agenda",
    "edit",
    "remember",
    "forget",
    "log",
    "blame",
    "diff",
    "undo",
    "restore",
    "consolidate",
    "maintain",
    "watch",
    "fleet",
    "ui",
    "mcp",
    "dingtalk",
    "channels",
    "remove",
    "import",
    "export",
    "status",
    "usage",
    "doctor",
]


def shell(*words: str, **options: object) -> subprocess.Popen[str]:
    """pipimem as a process of its own, with a Ctrl-C that works also where the tests run in the
    background.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "pipimem", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, encoding="utf-8", preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL), **options,  # type: ignore[call-overload]
    )  # fmt: skip


def test_the_option_wins_over_the_variable_and_the_folder(tmp_path: Path) -> None:
    """`--workspace`, then PIPIMEM_WORKSPACE, then the nearest folder with a pipimem.toml, then
    ./workspace.
    """
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert workspace_folder("one", "two", inner) == Path("one")
    assert workspace_folder(None, "two", inner) == Path("two")
    assert workspace_folder(None, None, inner) == Path("workspace")
    (tmp_path / "pipimem.toml").touch()
    assert workspace_folder(None, None, inner) == tmp_path


def test_the_help_loads_neither_a_command_nor_the_runtime() -> None:
    """It is what somebody calls who waits for it."""
    code = (
        "import sys; from pipimem.cli.commands import pipimem\n"
        "pipimem(['--help'], standalone_mode=False)\n"
        "print(*[name for name in sys.modules if name.startswith('pipimem.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    parts = ("pipimem.cli", "pipimem.errors")
    assert [name for name in done.stderr.split() if not name.startswith(parts)] == []
    assert "pipimem.cli.options" not in done.stderr


def test_the_table_has_the_short_help_of_each_command() -> None:
    """The help of all commands imports none of them."""
    context = click.Context(pipimem)
    found = {name: pipimem.get_command(context, name) for name in pipimem.list_commands(context)}
    texts = {name: command and command.get_short_help_str(200) for name, command in found.items()}
    assert texts == SHORT_HELP


def test_the_help_lists_every_command_in_the_order_of_first_need(call: Call) -> None:
    """Each has a sentence of its own."""
    listed = call("--help").out.partition("Commands:")[2].split("\n")
    assert [line.split()[0] for line in listed if line.strip()] == _ALL
    assert all(len(line.split()) > 3 for line in listed if line.strip())


def test_every_command_explains_itself(call: Call) -> None:
    """`pipimem COMMAND --help` works for all of them."""
    for name in _ALL:
        assert (call(name, "--help").code, name in call(name, "--help").out) == (0, True)


def test_the_list_of_commands_breaks_off_nowhere(call: Call) -> None:
    """Each command has a first sentence that fits its line of the help."""
    listed = call("--help").out.partition("Commands:\n")[2].splitlines()
    assert len(listed) == len(_ALL)
    assert [line for line in listed if line.endswith("...")] == []


def test_the_version_is_told(call: Call) -> None:
    """`pipimem --version`."""
    assert call("--version").out == f"pipimem {__version__}\n"


def test_a_misspelt_command_is_misuse_and_gets_a_hint(call: Call) -> None:
    """Exit 2, and the nearest command."""
    told = call("recal", "room", "x")
    assert told.code == 2
    assert "did you mean 'recall'?" in told.err


def test_the_group_imports_a_command_when_it_is_called() -> None:
    """A cold call pays for its own command only."""
    code = (
        "import sys; from pipimem.cli.commands import pipimem; "
        "print([m for m in ('rich', 'litellm', 'jieba', 'watchdog', 'difflib', 'pipimem.cli.commands.replay') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
    assert isinstance(pipimem, Commands)


def test_ctrl_c_ends_with_one_sentence(bot: Path) -> None:
    """Whoever stops a talk sees that the files are whole, and exit 1."""
    with shell("--workspace", str(bot), "chat", "room") as chat:
        assert chat.stdin
        assert chat.stderr
        assert "/help" in chat.stderr.readline()
        chat.send_signal(signal.SIGINT)
        told = chat.stderr.read()  # its input stays open: an end of input would be an answer, too
        chat.wait()
    assert (chat.returncode, told) == (
        1,
        "pipimem: stopped; the files are whole, run the command again to go on\n",
    )


def test_a_reader_that_goes_away_ends_it_quietly(call: Call, bot: Path) -> None:
    """`pipimem show … | head -1` prints no traceback."""
    folder = bot / "channels" / "room"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- a line that is long enough to fill the pipe\n" * 20_000)
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipimem", "--workspace", str(bot), "show", "room", "memory"],
        stdout=writing, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writing)
    assert os.read(reading, 10) == b"- a line t"
    os.close(reading)
    assert process.communicate()[1] == ""
