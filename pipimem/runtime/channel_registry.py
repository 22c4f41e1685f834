"""The open channels of a workspace: opened once each, found by id or folder, closed together."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import require_type
from pipimem.observer import Observers
from pipimem.runtime.assistants import Assistants
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.intake import Intake
from pipimem.runtime.maintenance.background import Background
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.recall_service import IndexLru, RecallService
from pipimem.runtime.upkeep import ChannelUpkeep
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

_log = logging.getLogger("pipimem")

# Closing waits for the disk, or for a model. So many channels share the disk's syncs, and leave
# threads to the host.
_CLOSED_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class ChannelRegistry:
    """Makes the channels of a workspace, and holds those that the host uses.

    `preempt` keeps the idle jobs of a folder away while held, `on_message` is called with the
    folder after each turn; the two `request`s have an index built or entries embedded.
    """

    workspace: WorkspaceStore
    settings: Settings
    clock: Clock
    assistants: Assistants
    vocabulary: Vocabulary
    embeddings: Embeddings | None
    background: Background
    observers: Observers
    preempt: Callable[[str], AbstractAsyncContextManager[None]]
    on_message: Callable[[str], None]
    request_warming: Callable[[RecallService], None]
    request_embedding: Callable[[RecallService], None]
    _index_lru: IndexLru = field(default_factory=IndexLru)
    _by_id: dict[str, Channel] = field(default_factory=dict)
    # The same channels by the names of their folders, as idle work knows them.
    _by_folder: dict[str, ChannelUpkeep] = field(default_factory=dict)
    _opening: anyio.Lock = field(default_factory=anyio.Lock)
    _is_kind_asked: bool = False

    async def opened(self, name: str, kind: str, title: str, *, create: bool) -> Channel:
        """The channel of a platform's id; the same object each time.

        Raises `ChannelError` for an unknown channel without `create`, or a folder that belongs to
        another one.
        """
        async with self._opening:
            if name not in self._by_id:
                made = partial(self._made_of, name, kind, title, create=create)
                channel = self._by_id[name] = await to_thread.run_sync(made)
                upkeep = upkeep_of(channel)
                self._by_folder[upkeep.store.folder.name] = upkeep
                upkeep.access.transcript_changed()
            return self._by_id[name]

    def _made_of(self, name: str, kind: str, title: str, *, create: bool) -> Channel:
        """Opens a channel, and reads the end of its transcript: call in a thread."""
        named = Intake(self.settings.private, secrets=self.settings.secrets).named(title)
        store = ChannelStore.open(self.workspace, name, create=create, kind=kind, title=named)
        if create and not store.channel_folder.identity.kind and not self._is_kind_asked:
            self._is_kind_asked = True
            _log.warning(
                "a channel was opened without a kind, so it counts as a group and entries are "
                'shown with who said them. Give kind="dm" or kind="group" to Pipimem.channel().'
            )
        return self._made(store)

    def in_folder(self, folder: str) -> ChannelUpkeep | None:
        """The channel of a folder, if the host uses it."""
        return self._by_folder.get(folder)

    def open_for_visit(self, folder: str) -> ChannelUpkeep | None:
        """A channel opened for one maintenance visit; `None` for a folder that is no channel."""
        info = self.workspace.channel_in(folder)
        if info is None:
            return None
        return upkeep_of(self._made(ChannelStore.open(self.workspace, info.id, create=False)))

    def warm(self) -> None:
        """Have the transcripts of the open channels indexed beside whatever comes next."""
        for channel in self._by_id.values():
            upkeep_of(channel).access.transcript_changed()

    async def remove(self, name: str) -> None:
        """Delete a channel for good. Raises `ChannelError` for an unknown one."""
        require_type(name, str, "id", "Give a conversation's id.")
        async with self._opening:
            infos = await to_thread.run_sync(self.workspace.channels)
            known = {info.id: info for info in infos}
            if name not in known:
                # It says what there is instead.
                await to_thread.run_sync(
                    partial(ChannelStore.open, self.workspace, name, create=False)
                )
            folder = known[name].folder.name
            async with self.preempt(folder):
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(self.workspace.remove, known[name])
            self._by_id.pop(name, None)
            self._by_folder.pop(folder, None)

    async def close_all(self, *, consolidates: bool) -> list[Exception]:
        """Close every channel, some at a time; the answer is what went wrong."""
        refused: list[Exception] = []
        places = anyio.CapacityLimiter(_CLOSED_AT_ONCE)

        async def close(channel: Channel) -> None:
            try:
                async with places:
                    await _close(channel, consolidates=consolidates)
            except Exception as reason:  # noqa: BLE001 - raised when the others are closed
                refused.append(reason)

        async with anyio.create_task_group() as tasks:
            for channel in self._by_id.values():
                tasks.start_soon(close, channel)
        return refused

    def _made(self, store: ChannelStore) -> Channel:
        jobs = ChannelJobs(
            store,
            self.assistants.with_fallback(),
            self.settings,
            self.clock,
            new_correlation=lambda: secrets.token_hex(6),
            vocabulary=self.vocabulary,
            observers=self.observers,
        )
        service = RecallService(
            store,
            self.vocabulary,
            self.settings.recall,
            self._index_lru,
            self.embeddings,
            self.settings.snapshot,
            self.settings.secrets,
        )
        access = ChannelAccess(
            store,
            self.settings,
            self.clock,
            self.observers,
            transcript_changed=partial(self.request_warming, service),
            forgotten=service.notes,
        )
        return Channel(
            access,
            jobs,
            service,
            self.background,
            partial(self.on_message, store.folder.name),
            self.request_embedding,
            partial(self.preempt, store.folder.name),
        )


async def _close(channel: Channel, *, consolidates: bool) -> None:
    if consolidates:
        receipt = await channel.close()
        if receipt is not None and receipt.state != "consolidated":
            # Nobody else would say so. Why is left to the receipt: a reason may quote the talk.
            _log.warning(
                "a conversation was closed with talk that is not learnt yet (%s): it is kept, and "
                "learnt later. `pipimem doctor` looks for the cause.",
                receipt.state,
            )
    else:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(upkeep_of(channel).store.close)
