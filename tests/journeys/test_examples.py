"""The examples that need nothing but pipimem, each run as its first lines say."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from pipimem import Kind
from pipimem.assistant import Call, Consolidate, Consolidated, HistoryItem, Learned
from pipimem.errors import ModelUnavailable
from pipimem.sidecar.tasks import Answer, Task
from pipimem.store.workspace import WorkspaceStore
from pipimem.testing import ScriptedAssistant

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    WorkspaceStore.init(workspace)
    return workspace


def terminal_bot() -> ModuleType:
    spec = spec_from_file_location("terminal_bot", EXAMPLES / "terminal_bot.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Noting(ScriptedAssistant):
    """Learns the same from whatever it is asked about."""

    async def answer(self, task: Task, call: Call) -> Answer:
        assert isinstance(task, Consolidate)
        ids = tuple(message.id for message in task.window)
        learned = Learned(Kind.PREFERENCE, "Dana drinks green tea", ids, "you")
        return Consolidated(
            (learned,), title="Tea", history=(HistoryItem("Dana asked for tea", ids),)
        )


@pytest.mark.anyio
async def test_the_terminal_bot_learns_and_remembers(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the assistant made of a session is given in the next one."""
    assistant = Noting()
    lines = ["remember: green tea for me", "/new", "which tea do I drink?"]
    await terminal_bot().main(root, lines, assistant=assistant)
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert (first, second) == ("bot: Noted.", "bot: A new session.")
    assert any("Dana drinks green tea" in line for line in rest)


@pytest.mark.anyio
async def test_the_terminal_bot_drops_what_memory_has_learnt(root: Path) -> None:
    """Half of its history, when there is too much; a gate that refuses keeps all of it."""
    module = terminal_bot()
    module.MOST = 4
    async with module.Pipimem(root, "offline") as pipimem:
        bot = module.TerminalBot(pipimem, await pipimem.channel("terminal"), "Dana")
        for text in ("one", "two", "three"):
            await bot.answer(text)
        assert [message.content for message in bot.history[::2]] == ["two", "three"]
    (root / "pipimem.toml").write_text('[compaction]\npolicy = "block"\n', encoding="utf-8")
    failing = ScriptedAssistant([ModelUnavailable("down")] * 9)
    async with module.Pipimem(root, assistant=failing) as pipimem:
        bot = module.TerminalBot(pipimem, await pipimem.channel("terminal"), "Dana")
        for text in ("four", "five", "six"):
            await bot.answer(text)
        assert len(bot.history) == 6
        assert (await bot.begin_anew()).startswith("The session goes on: ")
        assert len(bot.history) == 6


def test_the_terminal_bot_runs_from_its_command(tmp_path: Path) -> None:
    """It makes its workspace, and ends with the input."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / "terminal_bot.py", tmp_path / "workspace"],
        input="I'm allergic to peanuts, remember that\n/new\nwhat about peanuts?\n",
        capture_output=True, text=True, encoding="utf-8", check=True, cwd=tmp_path,
    )  # fmt: skip
    assert "I'm allergic to peanuts" in done.stdout


def test_the_first_script_makes_three_files_of_a_conversation(tmp_path: Path) -> None:
    """As in a fresh clone, but that pipimem is installed already."""
    checkout = tmp_path / "checkout"
    shutil.copytree(EXAMPLES, checkout / "examples")
    installed = f'PATH="{Path(sys.executable).parent}:$PATH"\n'
    (checkout / "examples" / "environment.sh").write_text(installed, encoding="utf-8")
    done = subprocess.run(
        ["bash", checkout / "examples" / "try.sh"],
        capture_output=True, text=True, encoding="utf-8", check=True, cwd=tmp_path,
    )  # fmt: skip
    (channel,) = (checkout / "workspace" / "channels").iterdir()
    names = {"SESSION.md", "MEMORY.md", "HISTORY.md"}
    assert names <= {path.name for path in channel.iterdir()}
    assert "生产库" in (channel / "MEMORY.md").read_text(encoding="utf-8")
    assert "2.4" in done.stdout.split("recall: 2.4 什么时候发布？")[1]


def cron(root: Path, backups: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", EXAMPLES / "cron.sh", root, backups],
        capture_output=True, text=True, encoding="utf-8", env={**os.environ, "PATH": path, **environment},
    )  # fmt: skip


@pytest.mark.anyio
async def test_the_cron_job_maintains_packs_and_checks(root: Path, tmp_path: Path) -> None:
    """The pack can be imported; old packs go, and what is wrong ends it with 1."""
    await terminal_bot().main(root, ["@pipi remember: the kiln takes eleven hours"])
    backups = tmp_path / "backups"
    backups.mkdir()
    old = backups / "memory-2020-01-01.zip"
    old.touch()
    os.utime(old, (0, 0))
    done = cron(root, backups)
    assert done.returncode == 0, done.stderr
    assert "No problems." in done.stdout + done.stderr
    (pack,) = backups.iterdir()
    assert pack.stat().st_mode & 0o077 == 0
    elsewhere = tmp_path / "elsewhere"
    for words in (("init",), ("import", pack)):
        command = [sys.executable, "-m", "pipimem", "--workspace", elsewhere, *words]
        subprocess.run(command, check=True, capture_output=True)
    text = elsewhere / "channels" / "terminal" / "MEMORY.md"
    assert "eleven hours" in text.read_text(encoding="utf-8")
    (root / "pipimem.toml").write_text("nonsense = 1\n", encoding="utf-8")
    assert cron(root, backups).returncode == 1
