"""Pipimem: one workspace opened for a bot, its channels, and the tasks that run beside them."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from pipimem.clock import Clock
from pipimem.errors import SettingsError, WorkspaceError
from pipimem.runtime.background import Background
from pipimem.runtime.channel import Channel, unwanted
from pipimem.runtime.embedding import JOB as EMBEDDING
from pipimem.runtime.embedding import Embedding
from pipimem.runtime.hosted import Hosted
from pipimem.runtime.idle import JOB as IDLE
from pipimem.runtime.idle import Idle, Visit
from pipimem.runtime.intake import named
from pipimem.runtime.meaning import meaning_of
from pipimem.runtime.reading import Reading
from pipimem.runtime.shelving import Shelf
from pipimem.runtime.thoughts import Thoughts
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings, settings_from
from pipimem.sidecar.contracts import Assistant
from pipimem.sidecar.embedding.embedder import Embedder
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.sidecar.governor import Governor

_OFFLINE = "offline"
# Closing waits for the disk, or for a model. So many channels share the disk's syncs, and leave threads to the host.
_CLOSED_AT_ONCE = 8

_log = logging.getLogger("pipimem")


class Pipimem:
    """The memory of one bot: `async with Pipimem("workspace") as pipimem: channel = await pipimem.channel(id)`.

    `model` is a litellm model name, or `offline` for the embedded rules (no network, no cost); left empty, the
    workspace's settings decide. `assistant` hands in a sidecar of the host's own instead, `embedder` what
    turns texts into vectors in the place of the one the settings name. Raises `WorkspaceError`
    where there is no workspace, `SettingsError` where its settings are not understood.
    """

    def __init__(
        self,
        workspace: str | Path,
        model: str = "",
        *,
        assistant: Assistant | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.store = WorkspaceStore.open(Path(workspace))
        self.settings = settings or settings_from(self.store.human_text("pipimem.toml"))
        self.clock = clock or Clock()
        if self.clock.now().tzinfo is None or self.clock.wall().tzinfo is None:
            raise SettingsError(
                "the clock's times need an offset: datetime.now().astimezone(), not datetime.now()"
            )
        self._background = Background(self.clock, self.store.problems)
        self._made_governor: Governor | None = None
        self._making_governor = threading.Lock()
        self._vocabulary = Vocabulary(self.store)
        self._shelf = Shelf()
        self.assistant = (
            Hosted(assistant) if assistant else self._assistant(model or self.settings.model.name)
        )
        self._meaning = meaning_of(
            self.settings, self.store, self._governor, embedder, background=self._background
        )
        self._embedding = Embedding(self._meaning, self._background) if self._meaning else None
        self._channels: dict[str, Channel] = {}
        # The same channels by the names of their folders, as idle work knows them.
        self._folders: dict[str, Channel] = {}
        self._opening = anyio.Lock()
        self._idle = Idle(
            self.store, self.settings, self.clock, self._folders.get, self._lent, self._background
        )
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        if self.settings.maintenance.enabled:
            self._tasks.start_soon(self._background.keep, IDLE, self._idle.run_beside)
        if self._embedding is not None:
            self._tasks.start_soon(self._background.keep, EMBEDDING, self._embedding.run)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        # Without the host's own error: the group would wrap it, and the host wants to catch what it raised.
        await self._stack.__aexit__(None, None, None)
        # After an error nobody waits for a thought: what was said is on disk, and consolidated next time.
        refused = await self._close_all(thinking=error is None)
        if refused and error is None:
            raise refused[0]

    async def _close_all(self, *, thinking: bool) -> list[Exception]:
        """Closes every channel, some at a time; the answer is what went wrong."""
        refused: list[Exception] = []
        waiting = iter(tuple(self._channels.values()))

        async def close_one_after_another() -> None:
            for channel in waiting:  # one iterator for all: each task takes the next channel
                try:
                    await self._closed(channel, thinking=thinking)
                except Exception as reason:  # noqa: BLE001 the others are closed first, then it is raised
                    refused.append(reason)

        async with anyio.create_task_group() as tasks:
            for _ in range(min(_CLOSED_AT_ONCE, len(self._channels))):
                tasks.start_soon(close_one_after_another)
        return refused

    async def channel(
        self,
        id: str,  # noqa: A002 - the field's own name
        *,
        kind: Literal["dm", "group"] = "dm",
        title: str = "",
        create: bool = True,
    ) -> Channel:
        """The conversation with the platform's id, made if it is new and `create`; the same object each time.

        Raises `ChannelError` for an unknown channel without `create`, or a folder that belongs to another one.
        """
        async with self._opening:
            if id not in self._channels:
                store = await to_thread.run_sync(
                    lambda: ChannelStore.open(
                        self.store, id, create=create, kind=kind, title=named(title)
                    )
                )
                self._channels[id] = self._folders[store.folder.name] = self._opened(store)
            return self._channels[id]

    def _opened(self, store: ChannelStore) -> Channel:
        thoughts = Thoughts(
            store,
            self._thinker(),
            self.settings,
            self.clock,
            correlate=lambda: secrets.token_hex(6),
            vocabulary=self._vocabulary,
            group=store.identity.kind == "group",
        )
        return Channel(
            store,
            thoughts,
            self.settings,
            self.clock,
            Reading(store, self._vocabulary, self.settings.recall, self._shelf, self._meaning),
            self._background,
            nonce=lambda: secrets.token_hex(6),
            touched=lambda _: self._idle.touched(store.folder.name),
            ahead=lambda: self._idle.ahead(store.folder.name),
            used=self.clock.monotonic(),
            wanted=self._embedding.wanted if self._embedding else unwanted,
        )

    def _lent(self, folder: str) -> Channel | None:
        """A channel nobody has open, for a look at its idle work; `None` for a folder that is no channel."""
        info = self.store.channel_in(folder)
        return (
            None
            if info is None
            else self._opened(ChannelStore.open(self.store, info.id, create=False))
        )

    async def _closed(self, channel: Channel, *, thinking: bool) -> None:
        if thinking:
            await channel.close()
        else:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(channel.store.close)

    async def watch(
        self,
        report: Callable[[Visit], None] | None = None,
        *,
        began: Callable[[], None] = lambda: None,
    ) -> None:
        """Do the idle work of every channel until cancelled, whatever the settings say.

        `began` is called once this process has the duty, `report` takes each look.

        Raises `WorkspaceError` where another process does it already.
        """
        if not await self._idle.take_duty():
            raise WorkspaceError(
                f"{self._idle.holder()} does the idle work of {self.store.root} already. Stop it first; a bot leaves "
                "it to others with `enabled = false` under [maintenance] in pipimem.toml."
            )
        self._idle.report = report
        began()
        await self._idle.run()

    # ── the sidecar ───────────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, model: str) -> Assistant:
        if model == _OFFLINE:
            from pipimem.sidecar.offline import (
                Offline,
            )  # its tables of cues: only where the rules think

            return Offline(self._vocabulary.words)
        from pipimem.sidecar.asking import Asking  # litellm's room: only when a model is asked for
        from pipimem.sidecar.assistant import ModelAssistant
        from pipimem.sidecar.litellm_door import LiteLLM
        from pipimem.sidecar.prompts import Prompts

        door = LiteLLM()
        asking = Asking(
            (model, *self.settings.model.fallbacks),
            door,
            partial(self._governor().begin, price=door.price),
            self.clock.monotonic,
            self.settings.model.concurrency,
        )
        return ModelAssistant(asking, Prompts(self.store.root / "prompts"))

    def _governor(self) -> Governor:
        """The one account of all requests to models and embedders; made when the first of them is asked for."""
        from pipimem.sidecar.governor import Governor

        with self._making_governor:
            if self._made_governor is None:
                books, budget = self.store.books, self.settings.budget
                self._made_governor = Governor(books, budget, self.clock, _log.warning)
            return self._made_governor

    def _thinker(self) -> Assistant:
        """The assistant of one channel: once the day's budget is spent, the embedded rules stand in for a model."""
        if not self.assistant.paid:
            return self.assistant
        from pipimem.sidecar.offline import Offline
        from pipimem.sidecar.stand_in import StandIn

        return StandIn(self.assistant, Offline(self._vocabulary.words))
