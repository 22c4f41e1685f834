"""The bot: frames become messages of conversations, each once, and a stop lets turns end."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import aiohttp

from pipimem.bots.dingtalk.api import DingTalkApi
from pipimem.bots.dingtalk.bot_context import BotContext, Permissions, Slots
from pipimem.bots.dingtalk.conversation import Conversation
from pipimem.bots.dingtalk.delivery import Delivery
from pipimem.bots.dingtalk.failures import log_failure
from pipimem.bots.dingtalk.frames import (
    CALLBACK,
    CARDS,
    EVENT,
    MESSAGES,
    Ack,
    AckCode,
    Credentials,
    Frame,
)
from pipimem.bots.dingtalk.gateway import StreamGateway, backoff
from pipimem.bots.dingtalk.incoming import (
    CardClick,
    Incoming,
    TakenBackMessage,
    card_click_of,
    incoming_of,
    taken_back_of,
)
from pipimem.bots.dingtalk.replies import BotLanguage, Replies, Wording, replies_of
from pipimem.bots.dingtalk.review_card import ReviewCards
from pipimem.bots.dingtalk.state import BotState
from pipimem.runtime.bot_process import process_lock

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem


# DingTalk waits a few seconds; what is not on the disk by then is to be delivered again.
_LONGEST_WAIT = 10.0
# Ids that are known without a look at a transcript; deliveries come again within minutes.
_MOST_IDS = 20_000
# Turns that read or write at a time: more threads would hold the event loop up. Where a model may
# reorder what was found, a turn waits for it, and others must not wait behind it.
_AT_ONCE, _AT_ONCE_WITH_A_MODEL = 2, 16
# A click is answered within the acknowledgement, for which DingTalk waits a few seconds.
_CLICK_SECONDS = 2.0

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(frozen=True, slots=True)
class BotOptions:
    """What a bot may be told: language, templates of cards, seconds for turns to end."""

    language: BotLanguage = "zh"
    card_template: str = ""
    review_template: str = ""
    grace: float = 20.0


class DingTalkBot:
    """One app's bot on an opened `Pipimem`."""

    def __init__(
        self,
        pipimem: Pipimem,
        credentials: Credentials,
        options: BotOptions | None = None,
        *,
        replies: Replies | None = None,
        report: Callable[[str], None] = lambda _: None,
        pause: Callable[[int], float] = backoff,
    ) -> None:
        self._pipimem, self._credentials = pipimem, credentials
        self._options = options or BotOptions()
        self._report, self._pause = report, pause
        self._wording = Wording.of(self._options.language)
        self._replies = replies or replies_of(pipimem, self._wording)
        # With what says that it is stored, while it is not.
        self._seen: OrderedDict[tuple[str, str], asyncio.Future[bool] | None] = OrderedDict()
        self._conversations: dict[str, Conversation] = {}
        self._clicks: OrderedDict[str, asyncio.Task[Ack]] = OrderedDict()
        self._tasks: set[asyncio.Task[object]] = set()
        self._gateway: StreamGateway | None = None
        # Clear while an acknowledgement waits for the disk.
        self._is_idle = asyncio.Event()
        self._is_idle.set()
        self._waiting = 0

    async def run(self, stop: asyncio.Event) -> None:
        """Receive and answer until `stop`, then let turns end, within `grace` seconds.

        Raises `SettingsError` where DingTalk refuses the app's id and secret at the beginning, and
        `WorkspaceError` where another bot runs on this workspace: DingTalk shares messages out
        among them, and none would know what was said to the other.
        """
        with process_lock(self._pipimem.store.root, "dingtalk", "A DingTalk bot runs"):
            await self._run(stop)

    async def _run(self, stop: asyncio.Event) -> None:
        state = BotState.load(self._pipimem.store.root)
        permissions = Permissions(self._pipimem.settings.dingtalk, state)
        self._cards = ReviewCards(self._pipimem, permissions, self._wording)
        # litellm's own sessions are others; nothing of the environment's proxies is taken for it.
        async with aiohttp.ClientSession(trust_env=True) as session:
            api = DingTalkApi(session, self._credentials, self._pipimem.clock.monotonic)
            title = self._wording("title")
            self._shared = BotContext(
                self._pipimem,
                self._replies,
                Delivery(api, title, self._options.card_template),
                self._wording,
                state,
                self._spawn,
                asyncio.Semaphore(_AT_ONCE),
                Slots(asyncio.Semaphore(self._turns_at_once()), self._is_idle),
                permissions,
                self._cards,
                self._options.review_template,
            )
            self._gateway = StreamGateway(api, self.receive, self._report, self._pause)
            await self._until(stop, self._gateway.run())
            await self._end_turns()

    def _turns_at_once(self) -> int:
        may_ask = self._pipimem.settings.recall.rerank != "never"
        return _AT_ONCE_WITH_A_MODEL if may_ask and self._pipimem.assistant.paid else _AT_ONCE

    def problem(self) -> str:
        """Why no message can come in, in a sentence; empty while the Stream connection stands."""
        is_connected = self._gateway is not None and self._gateway.is_connected
        return "" if is_connected else "there is no Stream connection"

    async def _until(self, stop: asyncio.Event, work: Coroutine[object, object, None]) -> None:
        """Run `work` until `stop` is set, or it raises."""
        working, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
        finally:
            for task in (working, stopping):
                task.cancel()
            await asyncio.gather(working, stopping, return_exceptions=True)

    async def _end_turns(self) -> None:
        """Wait for the turns under way; what takes longer is cut off, and stored already."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._options.grace
        while self._tasks and loop.time() < ends:
            await asyncio.wait(self._tasks, timeout=ends - loop.time())
        if self._tasks:
            self._report(f"{len(self._tasks)} conversations did not end in time")
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    # ── frames ────────────────────────────────────────────────────────────────────────────────────

    def receive(self, frame: Frame) -> Ack | Awaitable[Ack]:
        """Take a frame in; what it starts goes on beside."""
        if frame.type == CALLBACK and frame.topic == MESSAGES:
            return self._receive_message(frame)
        if frame.type == CALLBACK and frame.topic == CARDS:
            return self._receive_click(frame)
        if frame.type == EVENT:
            taken_back = taken_back_of(frame)
            return _EVENT_TAKEN if taken_back is None else self._taken_back(taken_back)
        return Ack(AckCode.NOT_FOUND, "not subscribed")

    def _receive_message(self, frame: Frame) -> Ack | Awaitable[Ack]:
        incoming = incoming_of(frame.data, self._wording.notes)
        if incoming is None:
            _log.warning("a message names no id or no conversation")
            return Ack(AckCode.BAD_REQUEST, "no message")
        stored = self._stored(incoming) if incoming.text else None
        if stored is None:
            return _TAKEN
        return self._acknowledged(stored, _TAKEN)

    def _taken_back(self, message: TakenBackMessage) -> Awaitable[Ack]:
        stored = self._conversation(message.channel).receive(message)
        return self._acknowledged(stored, _EVENT_TAKEN)

    async def _acknowledged(self, stored: asyncio.Future[bool], taken: Ack) -> Ack:
        """The acknowledgement, once what it is for is on the disk: it is not delivered again."""
        self._waiting += 1
        self._is_idle.clear()
        try:
            done, _ = await asyncio.wait({stored}, timeout=_LONGEST_WAIT)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._is_idle.set()
        is_stored = bool(done) and not stored.cancelled() and stored.result()
        return taken if is_stored else Ack(AckCode.FAILED, "not stored")

    def _stored(self, message: Incoming) -> asyncio.Future[bool] | None:
        """Take a message in, if it was not delivered to this process before; what says that it is
        stored, `None` if it is.
        """
        key = message.channel, message.id
        if key in self._seen:
            self._seen.move_to_end(key)
            return self._seen[key]
        stored = self._conversation(message.channel).receive(message)
        self._seen[key] = stored
        stored.add_done_callback(partial(self._note_stored, message))
        if len(self._seen) > _MOST_IDS:
            self._seen.popitem(last=False)
        return stored

    def _note_stored(self, message: Incoming, stored: asyncio.Future[bool]) -> None:
        key = message.channel, message.id
        if key in self._seen:
            self._seen[key] = None
        if stored.cancelled() or not stored.result():
            self._seen.pop(key, None)  # delivered again it is new

    def _receive_click(self, frame: Frame) -> Ack | Awaitable[Ack]:
        click = card_click_of(frame.data)
        if click is None:
            return Ack(data={"response": {}})
        return self._answered_click(frame.id, click)

    async def _answered_click(self, name: str, click: CardClick) -> Ack:
        """The card's new values; a click that is delivered again has the same answer."""
        task = self._clicks.get(name)
        if task is None:
            task = asyncio.ensure_future(self._click(click))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            if name:  # without an id it cannot be known again
                self._clicks[name] = task
            if len(self._clicks) > _MOST_IDS:
                self._clicks.popitem(last=False)
        try:
            async with asyncio.timeout(_CLICK_SECONDS):
                return await asyncio.shield(task)
        except TimeoutError:
            return _card_ack({"status": self._wording("review_later")})

    async def _click(self, click: CardClick) -> Ack:
        with log_failure("a click on a card failed"):
            return _card_ack(await self._cards.clicked(click))
        return _card_ack({"status": self._wording("failed")})

    def _conversation(self, channel: str) -> Conversation:
        found = self._conversations.get(channel)
        if found is None:
            found = self._conversations[channel] = Conversation(self._shared, channel)
        return found

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task: asyncio.Task[object] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


_TAKEN = Ack(data={"response": "OK"})
_EVENT_TAKEN = Ack(data='{"status": "SUCCESS"}')


def _card_ack(values: dict[str, str]) -> Ack:
    return Ack(data={"response": {"cardData": {"cardParamMap": values}}})
