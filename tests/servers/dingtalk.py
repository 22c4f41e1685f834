"""DingTalk on loopback: its gateway over HTTP and WebSocket, session webhooks, and cards.

It speaks the protocol as the official client does, and misbehaves where a test says so.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import anyio
from aiohttp import WSMsgType, web

CLIENT_ID, CLIENT_SECRET = "dingtestapp", "secret-of-the-test-app"
TICKET = "ticket/with+signs="
MESSAGES = "/v1.0/im/bot/messages/get"
CARDS = "/v1.0/card/instances/callback"


@dataclass(frozen=True, slots=True)
class Said:
    """What the bot said by a session webhook."""

    channel: str
    text: str
    body: Mapping[str, Any]
    time: float


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the card interface."""

    method: str
    path: str
    body: Mapping[str, Any]


@dataclass
class FakeDingTalk:
    """`url` is the address of all of it; what came in stands in the lists.

    `refuse` is an HTTP status for who opens a connection, `card_status` one for cards,
    `token_status` one for a token that ended. `card_answer` is what cards are answered with, and
    `page` what a proxy answers to all that the bot says. With `mute` nothing that is asked over
    HTTP gets an answer.
    """

    url: str = ""
    opened: list[Mapping[str, Any]] = field(default_factory=list)
    acks: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    ack_seconds: dict[str, float] = field(default_factory=dict)
    ack_count: int = 0
    said: list[Said] = field(default_factory=list)
    cards: list[Called] = field(default_factory=list)
    tokens: int = 0
    connections: int = 0
    connected_at: float = 0.0
    refuse: int = 0
    card_status: int = 200
    card_answer: Mapping[str, Any] = field(
        default_factory=lambda: {"success": True, "result": True}
    )
    token_status: int = 401
    token_lasts: float = 7200
    page: str = ""
    hook_code: int = 0
    hooks_refused: int = 0
    mute: bool = False
    pings: int = 0
    heard_pings: bool = True
    on_said: Callable[[Said], None] = lambda said: None
    on_ack: Callable[[str], None] = lambda name: None
    _sent: dict[str, float] = field(default_factory=dict)
    _tickets: set[str] = field(default_factory=set)
    _socket: web.WebSocketResponse | None = None
    _transport: asyncio.Transport | None = None
    _count: int = 0
    _changed: anyio.Event = field(default_factory=anyio.Event)

    # ── what a test does ──────────────────────────────────────────────────────────────────────────

    async def connected(self, times: int = 1) -> None:
        """Wait until a client has connected so many times."""
        await self.until(lambda: self.connections >= times and self._socket is not None)

    async def until(self, is_so: Callable[[], bool], seconds: float = 20) -> None:
        """Wait until something is so; nothing here takes longer than its start."""
        with anyio.fail_after(seconds):
            while not is_so():
                with anyio.move_on_after(0.05):  # a test may wait for something of its own
                    await self._changed.wait()

    async def frame(self, type_: str, topic: str, data: object, **headers: str) -> str:
        """Send one frame; returns its message id."""
        self._count += 1
        name = headers.pop("messageId", f"frame-{self._count}")
        about = {
            "appId": "app",
            "connectionId": "connection",
            "contentType": "application/json",
            "messageId": name,
            "time": str(int(time.time() * 1000)),
            "topic": topic,
        }
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        frame = {"specVersion": "1.0", "type": type_, "headers": about | headers, "data": text}
        self._sent[name] = time.monotonic()
        await self.raw(json.dumps(frame, ensure_ascii=False))
        return name

    async def raw(self, text: str | bytes) -> None:
        """Send what a gateway must not."""
        assert self._socket is not None
        if isinstance(text, bytes):
            await self._socket.send_bytes(text)
        else:
            await self._socket.send_str(text)

    def message(
        self, text: str, *, message_id: str = "", channel: str = "cidGroup==", **more: object
    ) -> dict[str, Any]:
        """The data of a message to the bot, as DingTalk sends it for a group."""
        self._count += 1
        return {
            "conversationId": channel,
            "atUsers": [{"dingtalkId": "$:LWCP_v1:$bot"}],
            "chatbotCorpId": "dingcorp",
            "chatbotUserId": "$:LWCP_v1:$bot",
            "msgId": message_id or f"msg{self._count}==",
            "senderNick": "林晓",
            "isAdmin": False,
            "senderStaffId": "staff-lin",
            "sessionWebhookExpiredTime": int(time.time() * 1000) + 5_400_000,
            "createAt": int(time.time() * 1000),
            "senderCorpId": "dingcorp",
            "conversationType": "2",
            "senderId": "$:LWCP_v1:$lin",
            "conversationTitle": "发布群",
            "isInAtList": True,
            "sessionWebhook": f"{self.url}/robot/sendBySession?session={quote(channel, safe='')}",
            "text": {"content": f" {text} "},
            "robotCode": CLIENT_ID,
            "msgtype": "text",
        } | more

    async def say(self, text: str, **more: Any) -> str:
        """Deliver a message; returns the frame's id."""
        return await self.frame("CALLBACK", MESSAGES, self.message(text, **more))

    async def click(
        self, card: str, action: str, *, user: str = "staff-lin", **params: str
    ) -> Mapping[str, Any]:
        """Press a button of a card as somebody; returns the card's new values."""
        content = {"cardPrivateData": {"actionIds": [action], "params": params}}
        data = {
            "outTrackId": card,
            "corpId": "dingcorp",
            "userId": user,
            "type": "actionCallback",
            "content": json.dumps(content),
        }
        name = await self.frame("CALLBACK", CARDS, data)
        return self.card_values(await self.acked(name))

    async def acked(self, name: str) -> Mapping[str, Any]:
        """The acknowledgement of a frame."""
        await self.until(lambda: name in self.acks)
        return self.acks[name]

    @staticmethod
    def card_values(ack: Mapping[str, Any]) -> Mapping[str, Any]:
        """The card's new state in an acknowledgement."""
        values: Mapping[str, Any] = json.loads(ack["data"])["response"]["cardData"]["cardParamMap"]
        return values

    async def disconnect(self) -> None:
        """Ask the client to connect anew."""
        await self.frame("SYSTEM", "disconnect", {"reason": "maintenance"})

    async def close(self) -> None:
        """Close the connection as a server does."""
        assert self._socket is not None
        await self._socket.close(code=1001)

    def break_off(self, half: bytes = b"") -> None:
        """End the connection in the middle of a frame."""
        assert self._transport is not None
        if half:
            # A text frame of 126 + 2 bytes length that promises more than it brings.
            self._transport.write(b"\x81\x7e\xff\xff" + half)
        self._transport.abort()
        self._socket = None

    # ── what DingTalk does ────────────────────────────────────────────────────────────────────────

    def app(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1.0/gateway/connections/open", self._open)
        app.router.add_get("/connect", self._connect)
        app.router.add_post("/v1.0/oauth2/accessToken", self._token)
        app.router.add_post("/robot/sendBySession", self._hook)
        app.router.add_post("/v1.0/card/instances/createAndDeliver", self._card)
        app.router.add_put("/v1.0/card/streaming", self._card)
        app.router.add_put("/v1.0/card/instances", self._card)
        return app

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def _open(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.opened.append(body)
        self._tell()
        await self._silence()
        if self.refuse:
            return web.json_response({"code": "refused", "message": "no"}, status=self.refuse)
        if (body.get("clientId"), body.get("clientSecret")) != (CLIENT_ID, CLIENT_SECRET):
            return web.json_response({"code": "authFailed", "message": "authFailed"}, status=401)
        ticket = f"{TICKET}{len(self.opened)}"
        self._tickets.add(ticket)
        endpoint = self.url.replace("http://", "ws://") + "/connect"
        return web.json_response({"endpoint": endpoint, "ticket": ticket})

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403)
        self._tickets.discard(ticket)  # it opens one connection
        socket = web.WebSocketResponse(autoping=self.heard_pings, max_msg_size=1 << 26)
        await socket.prepare(request)
        self._socket, self._transport = socket, request.transport  # type: ignore[assignment]
        self.connections += 1
        self.connected_at = time.monotonic()
        self._tell()
        async for message in socket:
            if message.type is WSMsgType.PING:
                self.pings += 1
            elif message.type is WSMsgType.TEXT:
                self._acknowledged(json.loads(message.data))
            self._tell()
        if self._socket is socket:
            self._socket = None
        return socket

    def _acknowledged(self, ack: Mapping[str, Any]) -> None:
        name = ack["headers"]["messageId"]
        self.ack_seconds.setdefault(name, time.monotonic() - self._sent.get(name, 0.0))
        self.acks[name] = ack
        self.ack_count += 1
        self.on_ack(name)

    async def _token(self, request: web.Request) -> web.Response:
        body = await request.json()
        await self._silence()
        if (body.get("appKey"), body.get("appSecret")) != (CLIENT_ID, CLIENT_SECRET):
            return web.json_response({"code": "invalidClient"}, status=400)
        self.tokens += 1
        return web.json_response(
            {"accessToken": f"token-{self.tokens}", "expireIn": self.token_lasts}
        )

    async def _hook(self, request: web.Request) -> web.Response:
        body = await request.json()
        await self._silence()
        if self.page:
            self.hooks_refused += 1
            self._tell()
            return web.Response(text=self.page, content_type="text/html")
        if self.hook_code:
            self.hooks_refused += 1
            self._tell()
            return web.json_response({"errcode": self.hook_code, "errmsg": "no"})
        said = Said(request.query["session"], body["markdown"]["text"], body, time.monotonic())
        self.said.append(said)
        self.on_said(said)
        self._tell()
        return web.json_response({"errcode": 0, "errmsg": "ok"})

    async def _card(self, request: web.Request) -> web.Response:
        if request.headers.get("x-acs-dingtalk-access-token") != f"token-{self.tokens}":
            return web.json_response({"code": "InvalidAuthentication"}, status=self.token_status)
        if self.page:
            return web.Response(text=self.page, content_type="text/html")
        if self.card_status != 200:
            return web.json_response({"code": "card.error"}, status=self.card_status)
        self.cards.append(Called(request.method, request.path, await request.json()))
        self._tell()
        return web.json_response(self.card_answer)

    async def _silence(self) -> None:
        while self.mute:
            await asyncio.sleep(0.05)


@asynccontextmanager
async def fake_dingtalk() -> AsyncIterator[FakeDingTalk]:
    """DingTalk on a free port, in this event loop."""
    fake = FakeDingTalk()
    runner = web.AppRunner(fake.app(), shutdown_timeout=1.0, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        fake.url = f"http://127.0.0.1:{port}"
        yield fake
    finally:
        await runner.cleanup()
