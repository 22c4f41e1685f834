"""A forgetting by another process while a bot is at work: nothing the bot still has in mind
brings the words back.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from pipimem import Message, Pipimem, Settings
from pipimem.runtime.channel import upkeep_of
from pipimem.settings import MaintenanceSettings, RecallSettings
from pipimem.store.forget.traces import traces
from pipimem.store.schedule import Schedule
from pipimem.store.workspace import WorkspaceStore

from tests.meanings import Toy
from tests.runtime.building import workspace
from tests.runtime.maintenance.test_scheduler import until
from tests.servers.openai import ChatRequest, OpenAIServer, Reply

WORD = "quokkapass"
_LINE = re.compile(r"^\[(\d+)\] .*$", re.MULTILINE)
# Enough that their words are kept for the next start.
_OTHERS = "".join(f"- fact number {number} is about shelf {number * 7}\n" for number in range(150))

pytestmark = pytest.mark.anyio


def settings(idle: float = 3_600.0) -> Settings:
    """No model on the way of a turn."""
    quick = MaintenanceSettings(enabled=False, idle_seconds=idle)
    return Settings(recall=replace(RecallSettings(), rerank="never"), maintenance=quick)


class Model:
    """Repeats what it was told. Its next answer about talk is refused, and quotes the word;
    `meanwhile` comes first.
    """

    def __init__(self) -> None:
        self.meanwhile: list[list[str]] = []
        self.refused = 0

    def __call__(self, request: ChatRequest) -> Reply:
        keys = request.schema["properties"] if request.schema else {}
        ids = _LINE.findall(request.user)
        if "merge" in keys:
            return said({"merge": [], "move": [], "drop": []})
        if "history" not in keys:  # a correction has that field alone
            line = {"list": "current_state", "text": f"they spoke of {WORD}"}
            return said({"title": "Talk", "remove": [], "add": [line]})
        if self.meanwhile:
            subprocess.run(self.meanwhile.pop(), check=True, capture_output=True)
            self.refused += 1
            return said(
                {
                    "learned": [],
                    "over": [],
                    "title": WORD,
                    "history": [{"text": WORD, "sources": [WORD]}],
                }
            )
        held = WORD if WORD in request.user else "the door"
        fact = {
            "kind": "fact", "text": f"The code is {held}", "sources": [ids[0]], "speaker": "Ines",
            "necessity": "high", "explicit": False, "replaces": [],
        }  # fmt: skip
        history = [{"text": f"Ines told the code {held}", "sources": [ids[0]]}]
        return said({"learned": [fact], "over": [], "title": "Talk", "history": history})


def said(answer: dict[str, object]) -> Reply:
    return Reply(json.dumps(answer))


def forget(root: Path) -> list[str]:
    """What a person types in another process."""
    return [
        sys.executable, "-m", "pipimem", "--workspace", str(root), "--model", "offline", "forget", "room", WORD, "--yes",
    ]  # fmt: skip


def held(root: Path) -> set[str]:
    """The files below a workspace that hold the word, in whatever spelling, and those that hold
    its bytes.
    """
    raw = {
        path
        for path in root.rglob("*")
        if path.is_file() and WORD.encode() in path.read_bytes().lower()
    }
    return {
        str(path.relative_to(root)) for path in raw | {trace.path for trace in traces([root], WORD)}
    }


async def in_use(root: Path) -> None:
    """A first life of the bot, after which the word stands wherever one can stand."""
    async with Pipimem(root, "openai/test", settings=settings(), embedder=Toy()) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        (upkeep_of(channel).store.folder / "MEMORY.md").write_text(
            f"# Memory\n\n## Facts\n\n{_OTHERS}"
        )
        await channel.notes.remember(f"Ines keeps the code {WORD} in her desk", speaker="Ines")
        for text in (f"the code is {WORD}", f"who knows the code {WORD}?", "where is shelf 7?"):
            turn = await channel.before_turn(text, speaker="Ines")
            await channel.after_turn(
                turn, [Message.user(text, speaker="Ines"), Message.assistant(f"I see: {text}")]
            )
        await channel.before_compaction(deadline=300)
        await upkeep_of(channel).maintain(forced=True)


async def test_nothing_a_bot_still_has_in_mind_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not by a recent question, a model call under way, the reason of a refused answer, words or
    vectors kept for a start.
    """
    root, model = workspace(tmp_path), Model()
    monkeypatch.setenv("PIPIMEM_DEBUG", "1")
    with OpenAIServer(model) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        await in_use(root)
        room = "channels/room"
        before = held(root)
        assert before >= {
            f"{room}/MEMORY.md", f"{room}/HISTORY.md", f"{room}/SESSION.md", f"{room}/log.jsonl",
            f"{room}/.pipimem/state.db", f"{room}/.pipimem/words.idx",
        }  # fmt: skip
        assert (root / room / ".pipimem/vectors.bin").exists()
        async with Pipimem(root, "openai/test", settings=settings(), embedder=Toy()) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            text = f"does anybody remember the code {WORD}?"
            turn = await channel.before_turn(text, speaker="Omar")
            assert turn.recall is not None
            assert turn.recall.repeated  # the snapshot shows it
            await channel.after_turn(
                turn, [Message.user(text, speaker="Omar"), Message.assistant("Ines does")]
            )
            model.meanwhile = [forget(root)]
            receipt = await channel.before_compaction(deadline=300)
            assert (receipt.state, model.refused) == ("consolidated", 1)
    assert held(root) == set()
    outcomes = {usage.outcome for usage in WorkspaceStore.open(root).usages()}
    assert "refused" in outcomes
    out, err = capfd.readouterr()
    assert "pipimem recall 'room': ms: look" in err
    assert WORD not in out + err


async def test_the_schedule_and_the_usage_of_a_watched_workspace_hold_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of folders, times, marks and figures alone; nothing is left of a hold."""
    root, model = workspace(tmp_path), Model()
    with OpenAIServer(model) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        await in_use(root)
        async with (
            Pipimem(root, "openai/test", settings=settings(idle=0.0)) as pipimem,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(pipimem.watch)
            await until(
                lambda: (
                    Schedule.load(pipimem.store.state).visits
                    and not pipimem._idle._scheduler._running
                )
            )
            tasks.cancel_scope.cancel()
    assert {path for path in held(root) if path.startswith(".pipimem")} == set()
    assert WorkspaceStore.open(root).usage_store.held() == {}
