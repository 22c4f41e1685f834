"""Nothing on the way may break a turn: each optional part missing, broken, slow, dying later."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest
from anyio import to_thread
from click.testing import CliRunner
from pipimem import Channel, Message, Pipimem, Turn
from pipimem.cli.commands import pipimem as command_line
from pipimem.errors import ModelUnavailable, WorkspaceError
from pipimem.llm import litellm_client
from pipimem.recall import vectors
from pipimem.runtime.embeddings import missing_library
from pipimem.runtime.maintenance.worker import MaintenanceWorker
from pipimem.settings import EmbedderSettings, MaintenanceSettings, ModelSettings, RecallSettings

from tests.meanings import Toy
from tests.runtime.building import Hands, settings, workspace, write

ENTRIES = "## Facts\n\n- the kiln takes eleven hours\n- nobody has seen the broom\n"


class Refusing(MetaPathFinder):
    """No module of these names can be imported."""

    def __init__(self, error: Exception, *names: str) -> None:
        self.error, self.names = error, names

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.names:
            raise self.error


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception, *names: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Refusing(error, *names), *sys.meta_path])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = workspace(tmp_path)
    write(root, "MEMORY.md", ENTRIES)
    return root


async def three_turns(channel: Channel) -> list[Turn]:
    """Turns that each ask for something else."""
    turns = []
    for question in ("which kiln?", "where is the broom?", "how long does the kiln take?"):
        turns.append(await channel.before_turn(question))
        await channel.after_turn(turns[-1], [Message.user(question)])
        await anyio.sleep(0.02)
    return turns


def words_went_on(turns: list[Turn]) -> bool:
    """Whether each turn had its candidates, and none a problem."""
    return all(turn.recall and turn.recall.candidates and not turn.problem for turn in turns)


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["local", "openai/text-embedding-3-small"])
async def test_a_missing_numpy_is_one_warning_and_words_go_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Doctor and status say what is missing."""
    refuse(monkeypatch, ModuleNotFoundError("No module named 'numpy'"), "numpy")
    (root / "pipimem.toml").write_text(f'[embedder]\nname = "{name}"\n', encoding="utf-8")
    with caplog.at_level(logging.WARNING, "pipimem"):
        async with Pipimem(root) as pipimem:
            assert words_went_on(await three_turns(await pipimem.channel("room", kind="group")))
    (told,) = caplog.messages
    assert told == missing_library(name)
    assert "pip install 'pipimem[embeddings]'" in told
    for command in ("doctor", "status"):
        shown = await to_thread.run_sync(
            CliRunner().invoke, command_line, ["--workspace", str(root), command]
        )
        assert shown.output.count("the embedder needs numpy") == 1
        assert "No problems" not in shown.output


@pytest.mark.anyio
async def test_an_embedder_that_is_broken_at_import_stops_no_turn(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A numpy that is there, and raises."""

    def broken(*_: object) -> NoReturn:
        raise ImportError("numpy.core is of another architecture")

    monkeypatch.setattr(vectors.Vectors, "read", broken)
    monkeypatch.setattr(vectors.Vectors, "place", broken)
    told = replace(settings(), embedder=EmbedderSettings(timeout=5.0))
    async with Pipimem(root, "offline", embedder=Toy(), settings=told) as pipimem:
        assert words_went_on(await three_turns(await pipimem.channel("room", kind="group")))


@pytest.mark.anyio
async def test_an_embedder_that_dies_later_stops_no_turn(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answered, and then its vectors cannot be compared any more."""
    told = replace(settings(), embedder=EmbedderSettings(timeout=5.0))
    async with Pipimem(root, "offline", embedder=Toy(), settings=told) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await three_turns(channel)

        def broken(*_: object) -> NoReturn:
            raise MemoryError

        monkeypatch.setattr(vectors.Vectors, "near", broken)
        assert not (await channel.before_turn("is the glowbox ready?")).problem


@pytest.mark.anyio
async def test_a_broken_index_is_a_turn_with_a_problem(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is raised below: the turn comes back, and status has it."""
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", kind="group")

        def broken(*_: object, **__: object) -> NoReturn:
            raise KeyError("a bug")

        with monkeypatch.context() as patched:
            patched.setattr(type(channel._recall_service), "recalled", broken)
            turn = await channel.before_turn("which kiln?")
        assert (turn.context, turn.problem.startswith("KeyError")) == ("", True)
        await channel.after_turn(turn, [Message.user("which kiln?")])
        assert not (await channel.before_turn("which kiln?")).problem
    problems = [problem.job for _, problem in pipimem.store.failing()]
    assert problems == ["recall"]


@pytest.mark.anyio
@pytest.mark.parametrize("error", [ImportError("no litellm"), AttributeError("half of it")])
async def test_a_broken_litellm_stops_no_turn(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Rerank asks for it on the way, a compaction afterwards: both say why and go on."""
    refuse(monkeypatch, error, "litellm")
    litellm_client.load_litellm.cache_clear()
    with pytest.raises(ModelUnavailable, match="litellm cannot be loaded"):
        litellm_client.load_litellm()
    told = replace(settings(), recall=RecallSettings(rerank="always"))
    async with Pipimem(root, "openai/gpt-x", settings=told) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        assert words_went_on(await three_turns(channel))
        receipt = await channel.before_compaction()
        assert (receipt.state, "litellm cannot be loaded" in receipt.reason) == ("deferred", True)
    assert list(pipimem.store.usages()) == []
    monkeypatch.undo()
    litellm_client.load_litellm.cache_clear()


@pytest.mark.anyio
async def test_a_rerank_that_dies_stops_no_turn(root: Path) -> None:
    """The local order stands."""
    told = replace(settings(), recall=RecallSettings(rerank="always"))
    async with Pipimem(root, assistant=_Dying(), settings=told) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        assert words_went_on(await three_turns(channel))


class _Dying:
    name, paid = "dying", True

    async def answer(self, *_: object) -> Any:
        raise RuntimeError("out of its mind")


@pytest.mark.anyio
async def test_without_a_watcher_idle_work_goes_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its files are compared every minute instead."""
    refuse(monkeypatch, ImportError("no watchdog"), "watchdog")
    told = replace(settings(), maintenance=MaintenanceSettings(idle_seconds=1))
    with caplog.at_level(logging.WARNING, "pipimem"):
        async with Pipimem(root, "offline", settings=told) as pipimem:
            assert words_went_on(await three_turns(await pipimem.channel("room", kind="group")))
            with anyio.fail_after(10):
                while not caplog.messages:
                    await anyio.sleep(0.01)
    assert "compared every minute" in " ".join(caplog.messages)


@pytest.mark.anyio
async def test_litellm_is_loaded_after_the_first_turn_where_a_model_is_set(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before, not with the offline rules, and not without a turn."""
    loaded: list[str] = []
    monkeypatch.setattr(litellm_client, "load_litellm", lambda: loaded.append("litellm"))
    told = replace(settings(), recall=RecallSettings(rerank="never"), model=ModelSettings())
    async with Pipimem(root, "offline", settings=told) as pipimem:
        await three_turns(await pipimem.channel("room", kind="group"))
    assert loaded == []
    async with Pipimem(root, "openai/gpt-x", settings=told) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await channel.before_turn("which kiln?")
        await anyio.sleep(0.05)
        assert loaded == []
        await channel.after_turn(await channel.before_turn("which kiln?"), [])
        with anyio.fail_after(5):
            while not loaded:
                await anyio.sleep(0.01)


@pytest.mark.anyio
async def test_start_and_stop_in_different_tasks(root: Path) -> None:
    """As start-up and shut-down hooks of a framework do; a second start is refused."""
    told = replace(settings(), maintenance=MaintenanceSettings(idle_seconds=1))
    pipimem = Pipimem(root, "offline", embedder=Toy(), settings=told)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipimem.start)
    with pytest.raises(WorkspaceError, match="started already"):
        await pipimem.start()
    channel = await pipimem.channel("room", kind="group")
    assert words_went_on(await three_turns(channel))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipimem.aclose)
    await pipimem.aclose()
    await pipimem.start()
    await pipimem.aclose()


@pytest.mark.anyio
async def test_a_task_of_ours_never_ends_the_hosts_group(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it raises: the host goes on."""
    told = replace(settings(), maintenance=MaintenanceSettings(idle_seconds=1))

    async def dying(*_: object) -> NoReturn:
        raise RuntimeError("a bug")

    monkeypatch.setattr(MaintenanceWorker, "run_beside", dying)
    pipimem = Pipimem(root, "offline", settings=told)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pipimem.start)
    await anyio.sleep(0.05)
    assert words_went_on(await three_turns(await pipimem.channel("room", kind="group")))
    await pipimem.aclose()


@pytest.mark.anyio
async def test_requests_that_cannot_be_read_are_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in reading what a message asks of memory costs the turn nothing else."""

    def broken(*_: object) -> NoReturn:
        raise RuntimeError("a bug")

    monkeypatch.setattr("pipimem.runtime.turn_recall.requests", broken)
    async with Pipimem(root, "offline", settings=settings(), clock=Hands().clock()) as pipimem:
        turn = await (await pipimem.channel("room", kind="group")).before_turn("which kiln?")
    assert (turn.requests, turn.problem) == ((), "")
    assert turn.recall is not None
    assert turn.recall.candidates
