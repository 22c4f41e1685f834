"""Pipimem: one workspace opened for a bot, its channels, and the tasks that run beside them."""

from __future__ import annotations

import inspect
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from types import NoneType, TracebackType
from typing import Any, Literal, Self

import anyio
import anyio.lowlevel
from anyio import to_thread
from anyio.lowlevel import EventLoopToken, current_token

from pipimem.clock import Clock
from pipimem.errors import (
    ArgumentError,
    WorkspaceError,
    require_one_of,
    require_time,
    require_type,
)
from pipimem.llm.embedding import Embedder
from pipimem.notes.message import Message
from pipimem.observer import Observer, Observers
from pipimem.runtime.assistants import Assistants
from pipimem.runtime.bot_process import take_in_arrivals
from pipimem.runtime.channel import Channel, no_op
from pipimem.runtime.channel_registry import ChannelRegistry
from pipimem.runtime.embeddings import embeddings_of
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.service_queue import EMBEDDING, WARMING, Embedding, Warming
from pipimem.runtime.maintenance.worker import IdleWork, MaintenanceWorker, Visit
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.tools.calls import ToolResult, called_in
from pipimem.runtime.tools.definitions import Language, Shape, definitions
from pipimem.runtime.usage_sums import WAYS, By, UsageSum, usage_sums
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import ObservabilitySettings, Settings, settings_from
from pipimem.sidecar.tasks import Assistant
from pipimem.store.workspace import ChannelInfo, WorkspaceStore

_log = logging.getLogger("pipimem")

_KINDS = ("dm", "group")
# The job, as the operator reads of them.
_LIBRARY = "loading litellm"


@dataclass(slots=True, eq=False)
class Lifetime:
    """A task that no task group of the host holds: what fails in it ends nothing of the host's.

    It may be ended in another task than the one that started it.
    """

    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _ended: anyio.Event = field(default_factory=anyio.Event)
    # The event loop of the task: a wait in another one would never be woken.
    _loop: EventLoopToken = field(default_factory=current_token)
    # asyncio keeps no task alive that nobody holds.
    _task: object = None
    _running: Coroutine[None, None, None] | None = None

    @classmethod
    async def started(cls, work: Callable[[], Awaitable[None]]) -> Self:
        """Begins `work`, which goes on until `end`; an exception that ends it is logged."""
        lifetime = cls()

        async def run() -> None:
            try:
                with lifetime._scope:
                    await anyio.lowlevel.checkpoint()  # ended at once, it never begins
                    await work()
            except Exception as error:  # noqa: BLE001 - trio ends the host with such a task
                # Without its words: they may quote a message.
                place = "".join(traceback.format_tb(error.__traceback__)).rstrip()
                _log.error("the work beside the host ended: %s\n%s", type(error).__name__, place)
            finally:
                lifetime._ended.set()

        import asyncio  # 20 ms, and loaded by now unless the loop is trio's

        running = lifetime._running = run()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            import outcome
            import trio.lowlevel

            # What is raised before the first line of `run` would end the host.
            lifetime._task = trio.lowlevel.spawn_system_task(outcome.acapture, lambda: running)
        else:
            lifetime._task = loop.create_task(running)
        return lifetime

    @property
    def has_ended(self) -> bool:
        """Whether the work is over."""
        # A task that was cancelled before its first line sets nothing.
        is_closed = inspect.CORO_CLOSED
        return self._ended.is_set() or (
            self._running is not None and inspect.getcoroutinestate(self._running) == is_closed
        )

    async def end(self) -> None:
        """Cancels the work and waits until it has ended; where it has, it does nothing.

        Raises `WorkspaceError` in another event loop than that of the work.
        """
        if self.has_ended:
            if not self._ended.is_set():
                _log.warning("the work beside the host never began")
            return
        if current_token() != self._loop:
            raise WorkspaceError(
                "aclose() was called in another event loop than start(), which may be running in "
                "another thread. Call it in the loop of start()."
            )
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._ended.wait()


class Pipimem:
    """The memory of one bot, on one workspace folder.

    `async with Pipimem("workspace") as pipimem: channel = await pipimem.channel(id)`; `start` and
    `aclose` do the same where start and stop are two functions of a framework.

    `model` is a litellm model name, or `offline` for the offline rules (no network, no cost); left
    empty, the workspace's settings decide. `assistant` hands in a sidecar of the host's own
    instead, `embedder` what turns texts into vectors in the place of the one the settings name.
    `keeps_context` says that the host keeps each turn's blocks in the model's context until it
    compacts: then nothing is shown twice. It goes before the workspace's `[recall] keeps_context`.
    Raises `WorkspaceError` where there is no workspace, `SettingsError` where its settings are not
    understood.
    """

    def __init__(
        self,
        workspace: str | Path,
        model: str = "",
        *,
        assistant: Assistant | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        keeps_context: bool | None = None,
        clock: Clock | None = None,
    ) -> None:
        _require_parts(workspace, model, settings, clock, keeps_context, assistant, embedder)
        self.store: WorkspaceStore = WorkspaceStore.open(Path(workspace), settings)
        settings = settings or settings_from(self.store.human_text("pipimem.toml"))
        settings = _with_keeps_context(settings, keeps_context)
        self.settings = settings
        self.clock: Clock = clock or Clock()
        self.clock.require_offsets()
        self._background = Background(self.clock, self.store.problems)
        self._vocabulary = Vocabulary(self.store)
        self._observers = observers_of(settings.observability)
        self._assistants = Assistants(
            self.store, settings, self.clock, self._vocabulary, model, assistant, self._observers
        )
        self.assistant: Assistant = self._assistants.chosen
        self._turn_ended = anyio.Event()
        self._embeddings = embeddings_of(
            settings, self.store, self._assistants.admission, embedder, background=self._background
        )
        self._embedding: Embedding | None = None
        if self._embeddings is not None:
            self._embedding = Embedding(self._embeddings, self._background)
        self._warming = Warming(self._background)
        self._channels = self._channel_registry()
        self._idle = self._maintenance_worker()
        self._idle_work = IdleWork(self._idle)
        self._lifetime: Lifetime | None = None
        # Whoever starts or closes waits for a closing that is under way.
        self._closing = anyio.Lock()

    def _channel_registry(self) -> ChannelRegistry:
        return ChannelRegistry(
            workspace=self.store,
            settings=self.settings,
            clock=self.clock,
            assistants=self._assistants,
            vocabulary=self._vocabulary,
            embeddings=self._embeddings,
            background=self._background,
            observers=self._observers,
            preempt=lambda folder: self._idle.preempt(folder),  # made after the channels
            on_message=self._after_turn,
            request_warming=self._request_warming,
            request_embedding=self._embedding.request if self._embedding else no_op,
        )

    def _maintenance_worker(self) -> MaintenanceWorker:
        return MaintenanceWorker(
            self.store,
            self.settings,
            self.clock,
            self._channels.in_folder,
            self._channels.open_for_visit,
            self._background,
        )

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After an error no model is called: the messages are on disk, and consolidated next time.
        await self._close(consolidates=error is None)

    async def start(self) -> None:
        """Begin the work beside the turns: what `async with` does at its beginning.

        For frameworks that start and stop in different tasks. Raises `WorkspaceError` where it has
        been started already.
        """
        async with self._closing:
            if self.is_started:
                raise WorkspaceError("This Pipimem was started already: call aclose() first.")
            await to_thread.run_sync(take_in_arrivals, self.store, self.clock.now())
            self._lifetime = await Lifetime.started(self._work_beside)
            self._channels.warm()

    async def aclose(self) -> None:
        """End that work, consolidate and close every channel; without a start it does nothing.

        It may be called in another task than `start`, and again: a second call waits for the first,
        and does what is left where the first was cancelled. Raises `WorkspaceError` in another
        event loop than that of `start`, while that one may still run.
        """
        await self._close(consolidates=True)

    async def _close(self, *, consolidates: bool) -> None:
        if self._lifetime is not None:
            await self._lifetime.end()  # also where whoever closes is cancelled
        async with self._closing:
            if self._lifetime is None:
                return
            refused = await self._channels.close_all(consolidates=consolidates)
            self._lifetime = None
        if refused and consolidates:
            raise refused[0]

    @property
    def is_started(self) -> bool:
        """Whether it was started, and has not ended."""
        return self._lifetime is not None and not self._lifetime.has_ended

    @property
    def does_idle_work(self) -> bool:
        """Whether this process is the one that does the workspace's idle work."""
        return self._idle.is_leader

    async def _work_beside(self) -> None:
        """All that runs beside the turns, until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._background.keep, _LIBRARY, self._load_library)
            tasks.start_soon(self._idle_work.run_beside)
            tasks.start_soon(self._background.keep, WARMING, self._warming.run)
            if self._embedding is not None:
                tasks.start_soon(self._background.keep, EMBEDDING, self._embedding.run)

    async def _load_library(self) -> None:
        """Load litellm after the first turn has ended, where a model is asked through it.

        It takes seconds, which a first rerank or refresh does not have.
        """
        if self._assistants.asks_litellm:
            await self._turn_ended.wait()
            await self._assistants.load_litellm()

    async def channel(
        self,
        id: str,  # noqa: A002 - the field's own name
        *,
        kind: Literal["dm", "group"] | None = None,
        title: str = "",
        create: bool = True,
    ) -> Channel:
        """Return the conversation with the platform's id; the same object each time.

        `kind` counts where nobody gave one before: in a direct message (`dm`) the one person is
        believed about what they want of the bot. Without a kind a channel counts as a group.

        Raises `ChannelError` for an unknown channel without `create`, or a folder that belongs to
        another one.
        """
        require_type(id, str, "id", "Give the platform's id as text.")
        if kind is not None:
            require_one_of(kind, _KINDS, "kind")
        require_type(title, str, "title", "Without a title it is empty.")
        return await self._channels.opened(id, kind or "", title, create=create)

    async def channels(self) -> tuple[ChannelInfo, ...]:
        """The channels of the workspace, by id."""
        return await to_thread.run_sync(self.store.channels)

    async def remove(self, id: str) -> None:  # noqa: A002 - the field's own name
        """Delete a channel for good, with its notes, its transcript and all that is kept of it.

        The ledger of costs keeps its lines. Raises `ChannelError` for an unknown one. A `Channel`
        of it that a host goes on using begins it anew.
        """
        await self._channels.remove(id)

    async def usage(self, by: By = "task", since: datetime | None = None) -> dict[str, UsageSum]:
        """What models were asked since a time and what it cost, by task, channel, model or day."""
        require_one_of(by, WAYS, "by")
        require_time(since, "since")
        return await to_thread.run_sync(lambda: usage_sums(self.store.usages(since), by))

    def add_observer(self, observer: Observer) -> None:
        """Have `observer` told of each operation from now on; see docs/guide/observability.md."""
        self._observers.add(observer)

    def tools(self, shape: Shape = "openai", *, language: Language = "en") -> list[dict[str, Any]]:
        """The tools of all conversations: each takes the platform's id as `channel`."""
        return definitions(shape, language, with_channel=True)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> ToolResult:
        """Carry out a call that the model made, in the conversation that the arguments name.

        What is wrong with the arguments stands in the result. Raises `StoreError`.
        """
        require_type(name, str, "name")
        return await called_in(self.channel, name, arguments)

    def _request_warming(self, service: RecallService) -> None:
        """Before a start nobody would do it, and a first turn would wait for it."""
        if self._lifetime is not None:
            self._warming.request(service)

    def _after_turn(self, folder: str) -> None:
        self._turn_ended.set()
        self._idle_work.message_received(folder)

    async def watch(
        self,
        report: Callable[[Visit], None] | None = None,
        *,
        began: Callable[[], None] = lambda: None,
        fleet: bool = False,
    ) -> None:
        """Do the idle work of every channel until cancelled, whatever the settings say.

        `began` is called once this process holds the leader lock, `report` takes each look; what it
        raises ends the watch. With `fleet` it works beside the workers of other hosts, on asyncio;
        jobs under way have 20 s to end then.

        Raises `WorkspaceError` where another process does it already, and where `fleet` is not as
        `[fleet] database` says.
        """
        await (self._idle_work.watch_for_fleet if fleet else self._idle_work.watch)(report, began)

    async def reply(self, messages: Sequence[Message], *, channel: str, timeout: float) -> str:
        """What the model answers to a conversation, within `timeout` seconds.

        It counts as a call of `channel`. Raises `SidecarError` for a failed call, and where no
        model of the settings answers.
        """
        return await self._assistants.reply(messages, channel, timeout)


def _with_keeps_context(settings: Settings, keeps_context: bool | None) -> Settings:
    """The settings with what the host says of its context; as they are where it says nothing."""
    if keeps_context is None:
        return settings
    return replace(settings, recall=replace(settings.recall, keeps_context=keeps_context))


def _require_parts(
    workspace: object,
    model: object,
    settings: object,
    clock: object,
    keeps_context: object,
    assistant: object,
    embedder: object,
) -> None:
    """Raises `ArgumentError` for what no `Pipimem` can be made of."""
    require_type(workspace, (str, PathLike), "workspace", "Give the folder's path.")
    require_type(model, str, "model", 'Give litellm\'s name of it, as "openai/gpt-5-mini".')
    require_type(settings, (Settings, NoneType), "settings", "pipimem.toml is read without any.")
    require_type(clock, (Clock, NoneType), "clock", "Give a pipimem.Clock.")
    require_type(keeps_context, (bool, NoneType), "keeps_context")
    for name, value in (("assistant", assistant), ("embedder", embedder)):
        if isinstance(value, (str, bytes, int, float, dict)):
            raise ArgumentError(
                f"{name} must be an object of yours, not {value!r}. A model is named by `model`, "
                "an embedder in pipimem.toml: name under [embedder]."
            )


_OPENTELEMETRY = "opentelemetry.trace"


def observers_of(settings: ObservabilitySettings) -> Observers:
    """OpenTelemetry where the settings ask for it, or the process uses it; else none.

    Where its API is asked for and missing, there is one warning.
    """
    wanted = settings.opentelemetry
    if wanted == "never" or (wanted == "auto" and _OPENTELEMETRY not in sys.modules):
        return Observers()
    try:
        # 90 ms where nothing has loaded it.
        from pipimem.runtime.observability.opentelemetry_spans import OpenTelemetryObserver
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        _log.warning(
            "no spans: [observability] opentelemetry asks for them, and `pip install "
            "opentelemetry-api` brings what is missing"
        )
        return Observers()
    return Observers(
        OpenTelemetryObserver(content=settings.content, channel_ids=settings.channel_ids)
    )
