"""Pipimem: one workspace opened for a bot, its channels, and the tasks that run beside them."""

from __future__ import annotations

import logging
import secrets
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import anyio
from anyio import from_thread, to_thread
from anyio.abc import TaskGroup
from anyio.lowlevel import current_token

from pipimem.clock import Clock
from pipimem.errors import PipimemError, SettingsError
from pipimem.notes.usage import Usage
from pipimem.runtime.channel import Channel
from pipimem.runtime.hosted import Hosted
from pipimem.runtime.reading import Reading, Vocabulary
from pipimem.runtime.scheduling import Scheduler
from pipimem.runtime.spending import Spending
from pipimem.runtime.thoughts import Thoughts
from pipimem.runtime.watching import Watch
from pipimem.settings import Settings, settings_from
from pipimem.sidecar.contracts import Assistant
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

_OFFLINE = "offline"
# Seconds until a channel whose disk refused is looked at again.
_AFTER_A_FAILURE = 600.0

_log = logging.getLogger("pipimem")


class Pipimem:
    """The memory of one bot: `async with Pipimem("workspace") as pipimem: channel = await pipimem.channel(id)`.

    `model` is a litellm model name, or `offline` for the embedded rules (no network, no cost); left empty, the
    workspace's settings decide. `assistant` hands in a sidecar of the host's own instead. Raises `WorkspaceError`
    where there is no workspace, `SettingsError` where its settings are not understood.
    """

    def __init__(
        self,
        workspace: str | Path,
        model: str = "",
        *,
        assistant: Assistant | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.store = WorkspaceStore.open(Path(workspace))
        self.settings = settings or settings_from(self.store.settings_text())
        self.clock = clock or Clock()
        if self.clock.now().tzinfo is None or self.clock.wall().tzinfo is None:
            raise SettingsError("the clock's times need an offset: datetime.now().astimezone(), not datetime.now()")
        self._vocabulary = Vocabulary(self.store)
        self.assistant = Hosted(assistant) if assistant else self._assistant(model or self.settings.model.name)
        self._spending = Spending(self.store.usages)
        self._channels: dict[str, Channel] = {}
        self._opening = anyio.Lock()
        self._scheduler = Scheduler(self._idle, self.clock.monotonic)
        self._watch: Watch | None = None
        self._stack = AsyncExitStack()
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        # Without the host's own error: the group would wrap it, and the host wants to catch what it raised.
        await self._stack.__aexit__(None, None, None)
        if self._watch:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(self._watch.stop)
        refused: list[PipimemError] = []
        for channel in self._channels.values():
            try:
                # After an error nobody waits for a thought: what was said is on disk, and consolidated next time.
                await self._closed(channel, thinking=error is None)
            except PipimemError as reason:  # the other channels are closed all the same
                refused.append(reason)
        if refused and error is None:
            raise refused[0]

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
                    lambda: ChannelStore.open(self.store, id, create=create, kind=kind, title=title)
                )
                self._channels[id] = self._opened(store)
            return self._channels[id]

    def _opened(self, store: ChannelStore) -> Channel:
        thoughts = Thoughts(
            store,
            self.assistant,
            self.settings,
            self.clock,
            correlate=lambda: secrets.token_hex(6),
            vocabulary=self._vocabulary,
            spending=self._spending,
            group=store.kind == "group",
        )
        return Channel(
            store,
            thoughts,
            self.settings,
            self.clock,
            Reading.of(store, self._vocabulary, self.settings.recall),
            nonce=lambda: secrets.token_hex(6),
            touched=self._touched,
        )

    async def _closed(self, channel: Channel, *, thinking: bool) -> None:
        if thinking:
            await channel.close()
        else:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(channel.store.close)

    # ── idle work ─────────────────────────────────────────────────────────────────────────────────────────────

    def _touched(self, channel_id: str) -> None:
        """Somebody spoke or edited: idle work waits its time from now. The first call starts the scheduler."""
        if self._tasks is None or not self.settings.maintenance.enabled:
            return
        if not self._watch:
            self._start_idle_work(self._tasks)
        self._scheduler.touch(channel_id, self.settings.maintenance.idle_seconds)

    def _start_idle_work(self, tasks: TaskGroup) -> None:
        token = current_token()

        def edited(folder: str) -> None:
            """Called from the watch's thread; once the loop has ended there is nobody left to tell."""
            with suppress(RuntimeError):
                from_thread.run_sync(self._edited, folder, token=token)

        self._watch = Watch(self.store.channels_folder, edited)
        tasks.start_soon(self._scheduler.run)
        tasks.start_soon(self._start_watch, self._watch)

    async def _start_watch(self, watch: Watch) -> None:
        if refused := await to_thread.run_sync(watch.start):
            _log.warning("%s", refused)

    def _edited(self, folder: str) -> None:
        for channel in self._channels.values():
            if channel.store.folder.name == folder:
                self._touched(channel.id)

    async def _idle(self, channel_id: str) -> None:
        """One channel's idle jobs; a disk that refuses now is asked again later, and never ends the bot."""
        try:
            await self._channels[channel_id].maintain()
        except (PipimemError, OSError) as error:
            _log.warning("idle maintenance of %s: %s", channel_id, error)
            self._scheduler.touch(channel_id, _AFTER_A_FAILURE)

    # ── the sidecar ───────────────────────────────────────────────────────────────────────────────────────────

    def _assistant(self, model: str) -> Assistant:
        if model == _OFFLINE:
            from pipimem.sidecar.offline import Offline  # its tables of cues: only where the rules think

            return Offline(self._vocabulary.words)
        from pipimem.sidecar.assistant import ModelAssistant  # litellm's room: only when a model is asked for

        return ModelAssistant(
            (model, *self.settings.model.fallbacks),
            prompts=self.store.root / "prompts",
            record=self._record,
            concurrency=self.settings.model.concurrency,
            wall=self.clock.wall,
            monotonic=self.clock.monotonic,
        )

    def _record(self, usage: Usage) -> None:
        self.store.append_usage(usage)
        self._spending.note(usage)
