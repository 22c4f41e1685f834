"""The Stream connection: opened, read, acknowledged, and opened again when it ends."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote

import aiohttp

from pipimem.bots.dingtalk.api import DingTalkApi, DingTalkRefusal, StreamAddress
from pipimem.bots.dingtalk.failures import log_failure
from pipimem.bots.dingtalk.frames import (
    DISCONNECT,
    SUBSCRIPTIONS,
    SYSTEM,
    Ack,
    AckCode,
    Frame,
    frame_of,
)
from pipimem.errors import SettingsError

# DingTalk's own messages are smaller by far; a larger frame ends the connection.
_MOST_BYTES = 8 << 20
# A peer that answers no ping for so long is gone.
_HEARTBEAT_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
# A connection that lasted so long was none that failed, though nobody spoke.
_STEADY_SECONDS = 10.0
_LONGEST_PAUSE = 60.0
# After so many connections within so many seconds there is a pause, whatever the gateway asks for:
# one that sends its clients on again and again would have a hundred of them a second.
_MOST_AT_ONCE, _AT_ONCE_SECONDS = 5, 10.0

_FAILED = Ack(AckCode.FAILED, "failed")

_log = logging.getLogger("pipimem.dingtalk")


class Receiver(Protocol):
    """Whoever takes the frames. It must not wait: an answer that takes time is awaitable."""

    def __call__(self, frame: Frame) -> Ack | Awaitable[Ack]:
        """The acknowledgement of a frame, or what will give it."""


def backoff(failures: int) -> float:
    """Seconds before the next attempt: 1, 2, 4 … 60, each a little longer or shorter."""
    pause = min(_LONGEST_PAUSE, 2.0 ** min(failures - 1, 10))
    return pause * random.uniform(0.75, 1.25)  # noqa: S311 - no secret: bots must not come at once


@dataclass(slots=True)
class StreamGateway:
    """Keeps one connection open and hands each frame to `receive`."""

    api: DingTalkApi
    receive: Receiver
    report: Callable[[str], None] = lambda _: None
    pause: Callable[[int], float] = backoff
    heartbeat: float = _HEARTBEAT_SECONDS
    is_connected: bool = field(default=False, init=False)
    # Connections without a message since the last one that had any.
    _failures: int = 0
    _is_first: bool = True
    # When the newest connections were asked for.
    _asked: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST_AT_ONCE))
    _late: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self) -> None:
        """Receive until cancelled. Raises `SettingsError` where the first attempt is refused."""
        try:
            while True:
                at_once = await self._connected()
                if not at_once or self._failures > 1 or self._reconnects_too_often():
                    await asyncio.sleep(self.pause(max(1, self._failures)))
        finally:
            for task in self._late:
                task.cancel()

    def _reconnects_too_often(self) -> bool:
        """Whether the newest connections followed each other too soon."""
        is_many = len(self._asked) == _MOST_AT_ONCE
        return is_many and self.api.monotonic() - self._asked[0] < _AT_ONCE_SECONDS

    async def _connected(self) -> bool:
        """One connection to its end; whether the gateway asked for the next one at once."""
        self._failures += 1
        self._asked.append(self.api.monotonic())
        try:
            address = await self.api.open_connection(SUBSCRIPTIONS)
            return await self._read(address)
        except DingTalkRefusal as error:
            if self._is_first and error.is_final:
                raise SettingsError(
                    f"DingTalk refused the app's id and secret ({error}) Check "
                    "DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET, and that Stream mode is on."
                ) from None
            _log.warning("no Stream connection: %s", error)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            # Its text may hold the address with its ticket.
            _log.warning("the Stream connection failed: %s", type(error).__name__)
        return False

    async def _read(self, address: StreamAddress) -> bool:
        url = f"{address.endpoint}?ticket={quote(address.ticket, safe='')}"
        timeout = aiohttp.ClientWSTimeout(ws_close=2.0)
        # Not `wait_for`: before Python 3.12 it swallows a cancellation that comes as it ends.
        async with asyncio.timeout(_CONNECT_SECONDS):
            socket = await self.api.session.ws_connect(
                url, heartbeat=self.heartbeat, max_msg_size=_MOST_BYTES, timeout=timeout
            )
        self._is_first, began = False, self.api.monotonic()
        async with socket:
            self.report("connected")
            self.is_connected = True
            try:
                at_once = await self._read_frames(socket)
            finally:
                self.is_connected = False
        if self.api.monotonic() - began >= _STEADY_SECONDS:
            self._failures = 0
        return at_once

    async def _read_frames(self, socket: aiohttp.ClientWebSocketResponse) -> bool:
        """Take frames until the connection ends; whether the gateway asked for another."""
        while True:
            message = await socket.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                if message.type is aiohttp.WSMsgType.BINARY:
                    continue
                return False
            frame = frame_of(message.data)
            if frame is None:
                _log.warning("a frame is no frame: %d characters", len(message.data))
                continue
            if await self._is_last(socket, frame):
                return True

    async def _is_last(self, socket: aiohttp.ClientWebSocketResponse, frame: Frame) -> bool:
        """Take one frame; whether it asks to connect anew."""
        if frame.type == SYSTEM:
            await socket.send_str(Ack(data=frame.text).text(frame))
            return frame.topic == DISCONNECT
        self._failures = 0
        await self._acknowledge(socket, frame)
        return False

    async def _acknowledge(self, socket: aiohttp.ClientWebSocketResponse, frame: Frame) -> None:
        answer: Ack | Awaitable[Ack] = _FAILED
        with log_failure("a frame failed"):
            answer = self.receive(frame)
        if isinstance(answer, Ack):
            await self._send(socket, frame, answer)
            return
        task = asyncio.ensure_future(self._acknowledge_later(socket, frame, answer))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _acknowledge_later(
        self, socket: aiohttp.ClientWebSocketResponse, frame: Frame, answer: Awaitable[Ack]
    ) -> None:
        ack = _FAILED
        with log_failure("a frame failed"):
            ack = await answer
        if not socket.closed:
            try:
                await self._send(socket, frame, ack)
            except (aiohttp.ClientError, OSError):
                pass  # the connection ended meanwhile: the frame is delivered again

    async def _send(self, socket: aiohttp.ClientWebSocketResponse, frame: Frame, ack: Ack) -> None:
        if frame.id:
            await socket.send_str(ack.text(frame))
