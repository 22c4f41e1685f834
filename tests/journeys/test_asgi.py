"""A bot behind ASGI: a framework's start-up and shutdown hooks, and each request in its own task."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from pipimem import Message, Pipimem
from pipimem.store.workspace import WorkspaceStore

pytestmark = [pytest.mark.anyio, pytest.mark.both_loops]

Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

TOLD = "we decided to have dinner at seven on Sundays from now on"
ASKED = "when is dinner on Sundays?"
CHAT = [f"I tried recipe number {number} with a lot of garlic" for number in range(8)]


@dataclass
class Bot:
    """The app: what FastAPI makes of two hooks and one route."""

    pipimem: Pipimem

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """One lifespan, or one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            asked = json.loads((await receive())["body"])
            await send({"type": "http.response.start", "status": 200, "headers": []})
            answer = await self._answer(asked["speaker"], asked["text"])
            await send({"type": "http.response.body", "body": answer.encode()})

    async def _live(self, receive: Receive, send: Send) -> None:
        hooks = {"startup": self.pipimem.start, "shutdown": self.pipimem.aclose}
        for name, hook in hooks.items():
            assert (await receive())["type"] == f"lifespan.{name}"
            async with anyio.create_task_group() as tasks:  # each hook in a task of its own
                tasks.start_soon(hook)
            await send({"type": f"lifespan.{name}.complete"})

    async def _answer(self, speaker: str, text: str) -> str:
        channel = await self.pipimem.channel("kitchen", kind="group")
        turn = await channel.before_turn(text, speaker=speaker)
        reply = turn.context or "I know nothing about that."
        said = [Message.user(text, speaker=speaker), Message.assistant("noted")]
        await channel.after_turn(turn, said)
        return reply


@dataclass
class Server:
    """A server for one app: it runs the lifespan beside the requests."""

    app: Bot
    answers: list[str] = field(default_factory=list)

    async def serve(self, texts: list[str]) -> None:
        """Start the app, ask it one thing after the other, and shut it down."""
        to_app, from_server = anyio.create_memory_object_stream[Event](1)
        to_server, from_app = anyio.create_memory_object_stream[Event](1)
        with to_app, from_server, to_server, from_app:
            async with anyio.create_task_group() as tasks:
                scope = {"type": "lifespan"}
                tasks.start_soon(self.app, scope, from_server.receive, to_server.send)
                await to_app.send({"type": "lifespan.startup"})
                assert (await from_app.receive())["type"] == "lifespan.startup.complete"
                for text in texts:
                    async with anyio.create_task_group() as request:
                        request.start_soon(self._ask, text)
                await to_app.send({"type": "lifespan.shutdown"})
                assert (await from_app.receive())["type"] == "lifespan.shutdown.complete"

    async def _ask(self, text: str) -> None:
        body = json.dumps({"speaker": "Ann", "text": text}).encode()
        sent: list[Event] = []

        async def receive() -> Event:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(event: Event) -> None:
            sent.append(event)

        await self.app({"type": "http"}, receive, send)
        self.answers.append(sent[-1]["body"].decode())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace fresh from the template."""
    WorkspaceStore.init(tmp_path / "bot")
    return tmp_path / "bot"


async def test_a_bot_answers_from_memory_on_the_tenth_turn_after_a_restart(root: Path) -> None:
    """What was told before the shutdown was learnt in it."""
    await Server(Bot(Pipimem(root, "offline"))).serve([TOLD])
    assert "dinner at seven" in (root / "channels" / "kitchen" / "MEMORY.md").read_text()
    server = Server(Bot(Pipimem(root, "offline")))
    await server.serve([*CHAT, "good night", ASKED])
    assert len(server.answers) == 10
    assert "dinner at seven" in server.answers[-1]


async def test_a_bot_answers_from_the_same_talk_on_the_tenth_turn(root: Path) -> None:
    """Nothing was learnt yet: it was said too long ago for the prompt, and comes as an excerpt."""
    server = Server(Bot(Pipimem(root, "offline")))
    await server.serve([TOLD, *CHAT, "what did we decide about our dinner?"])
    assert len(server.answers) == 10
    assert "dinner at seven" in server.answers[-1]


async def test_one_app_may_be_started_again(root: Path) -> None:
    """As a framework's test client does it."""
    bot = Bot(Pipimem(root, "offline"))
    for _ in range(2):
        server = Server(bot)
        await server.serve([TOLD, ASKED])
        assert len(server.answers) == 2
    assert "dinner at seven" in server.answers[-1]
