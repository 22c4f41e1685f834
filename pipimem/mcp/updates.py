"""Tells clients that a resource changed, whoever wrote the file."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from pipimem.errors import PipimemError
from pipimem.notes.kinds import File
from pipimem.runtime.maintenance.watch import Watch

if TYPE_CHECKING:
    from pipimem.mcp.resources import MemoryResources

# Editors write a file in several steps.
_SETTLE = 0.05
# A watch may miss something; without one this is how long a change waits.
_COMPARE_EVERY = 60.0
_COMPARE_WITHOUT_A_WATCH = 2.0
_WATCHED = (str(File.SESSION), str(File.MEMORY), str(File.HISTORY), ".pipimem/state.db")

_log = logging.getLogger("pipimem")


@dataclass(slots=True)
class ResourceUpdates:
    """The resources that clients follow, with the text that each was last told to have.

    Clients of the revision 2026-07-28 listen to `bus`; older ones have subscribed in a session.
    """

    resources: MemoryResources
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    _texts: dict[str, str] = field(default_factory=dict)
    _followers: Counter[str] = field(default_factory=Counter)
    # The sessions of older clients by URI, each under its connection.
    _sessions: dict[str, dict[Connection, ServerSession]] = field(default_factory=dict)
    # Folders whose files changed; all of them with None.
    _changed: set[str | None] = field(default_factory=set)
    _wake: anyio.Event = field(default_factory=anyio.Event)
    _is_wanted: anyio.Event = field(default_factory=anyio.Event)
    _folders: frozenset[str] = frozenset()
    _has_watch: bool = False
    # When a watch that was refused is tried again, in seconds of the event loop.
    _start_again: float = 0.0

    @property
    def followed(self) -> int:
        """How many resources are followed by somebody."""
        return len(self._texts)

    async def follow(self, uris: Sequence[str]) -> ExitStack:
        """Compare resources while the result is held. Raises `NothingFound` for a foreign URI."""
        await self._want()
        texts = {uri: (await self.resources.read(uri)).text for uri in uris}
        for uri, text in texts.items():
            self._follow(uri, text)
        following = ExitStack()
        for uri in uris:
            following.callback(self._unfollow, uri)
        return following

    async def subscribe(self, session: ServerSession, uri: str) -> None:
        """An older client wants to hear of a resource until it says otherwise or is gone."""
        await self._want()
        text = (await self.resources.read(uri)).text
        connection = _connection(session)
        sessions = self._sessions.setdefault(uri, {})
        if connection in sessions:
            return
        self._follow(uri, text)
        sessions[connection] = session
        connection.exit_stack.callback(self.unsubscribe, session, uri)

    async def _want(self) -> None:
        """Have the files watched: three watches a channel, which most clients never need."""
        if not self._is_wanted.is_set():
            self._folders = await to_thread.run_sync(self._folders_now)
            self._is_wanted.set()

    def unsubscribe(self, session: ServerSession, uri: str) -> None:
        """An older client does not want to hear of a resource any more; or never did."""
        sessions = self._sessions.get(uri, {})
        if sessions.pop(_connection(session), None) is not None:
            self._unfollow(uri)
        if not sessions:
            self._sessions.pop(uri, None)

    def changed(self, folder: str | None) -> None:
        """A channel's files may have changed; with None those of any."""
        self._changed.add(folder)
        self._wake.set()

    async def run(self) -> None:
        """Watch the files and tell of changes, from the first follower on, until cancelled."""
        await self._is_wanted.wait()
        watch = Watch(
            self.resources.pipimem.store.channels_folder,
            _listener(self._report, self._is_known, current_token()),
            files=_WATCHED,
            workspace_files=(str(File.MEMORY),),
        )
        try:
            while True:
                if not self._has_watch or watch.is_unavailable:
                    await self._start(watch)
                await self._wait()
                await self._tell()
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(watch.stop)

    def _is_known(self, folder: str | None) -> bool:
        """Whether a change of a folder waits to be compared; may be called in any thread."""
        return folder is not None and folder in self._changed

    def _report(self, folder: str | None) -> None:
        """What the watch tells: with None it has lost something and must begin anew."""
        if folder is None:
            self._has_watch = False
            self._start_again = 0.0
        self.changed(folder)

    async def _start(self, watch: Watch) -> None:
        if anyio.current_time() < self._start_again:
            return
        self._start_again = anyio.current_time() + _COMPARE_EVERY
        refused = await to_thread.run_sync(watch.start)
        self._has_watch = not refused
        if refused:
            _log.info("%s", refused)
        self.changed(None)  # what was written before it began

    async def _wait(self) -> None:
        seconds = _COMPARE_EVERY if self._has_watch else _COMPARE_WITHOUT_A_WATCH
        with anyio.move_on_after(seconds) as waiting:
            await self._wake.wait()
        if waiting.cancelled_caught:
            self._changed.add(None)
        else:
            await anyio.sleep(_SETTLE)
        self._wake = anyio.Event()

    async def _tell(self) -> None:
        """Compare what may have changed with what was last told."""
        changed, self._changed = self._changed, set()
        await self._tell_of_channels()
        for uri in list(self._texts):
            if None in changed or self._folder(uri) in changed:
                await self._compare(uri)

    async def _compare(self, uri: str) -> None:
        try:
            text = (await self.resources.read(uri)).text
        except (PipimemError, OSError):
            text = ""  # the channel is gone, or its file cannot be read: whoever reads is told
        if uri not in self._texts or self._texts[uri] == text:
            return
        self._texts[uri] = text
        await self.bus.publish(ResourceUpdated(uri=uri))
        for session in list(self._sessions.get(uri, {}).values()):
            await session.send_resource_updated(uri)

    async def _tell_of_channels(self) -> None:
        if self.resources.only is not None:
            return
        folders = await to_thread.run_sync(self._folders_now)
        if folders != self._folders:
            self._folders = folders
            await self.bus.publish(ResourcesListChanged())

    def _folders_now(self) -> frozenset[str]:
        try:
            folder = self.resources.pipimem.store.channels_folder
            return frozenset(path.name for path in folder.iterdir())
        except OSError:
            return frozenset()

    def _folder(self, uri: str) -> str:
        """The folder of a resource's channel; empty for the workspace."""
        channel = self.resources.resource(uri).channel
        return "" if channel is None else self.resources.pipimem.store.folder_of(channel).name

    def _follow(self, uri: str, text: str) -> None:
        self._texts.setdefault(uri, text)
        self._followers[uri] += 1

    def _unfollow(self, uri: str) -> None:
        self._followers[uri] -= 1
        if self._followers[uri] <= 0:
            del self._followers[uri]
            self._texts.pop(uri, None)


def _connection(session: ServerSession) -> Connection:
    """The connection of a request's session: it outlives the request, and tells when it ends."""
    return session._connection  # noqa: SLF001 - the SDK has no other way to its exit stack


def _listener(
    report: Callable[[str | None], None],
    is_known: Callable[[str | None], bool],
    token: EventLoopToken,
) -> Callable[[str | None], None]:
    """Calls `report` on the event loop of `token`; for the watch's threads.

    A commit is several events: those of a folder that is known to have changed cost nothing.
    """
    cancelled = anyio.get_cancelled_exc_class()

    def listener(folder: str | None) -> None:
        if is_known(folder):
            return
        with suppress(RuntimeError, CancelledError, cancelled):  # the event loop has ended
            from_thread.run_sync(report, folder, token=token)

    return listener
