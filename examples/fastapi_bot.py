"""A bot behind HTTP, for platforms that send messages by webhook: many conversations, one process.

    pip install fastapi uvicorn
    python examples/fastapi_bot.py [WORKSPACE] [PORT]
    curl localhost:8000/messages --json '{"channel": "room/1", "speaker": "Dana", "text": "hello"}'

Without a model it answers with what memory gave it: put your own into `reply`.
"""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI, HTTPException
from pipimem import Message, Pipimem, StoreError, Turn, Visible
from pipimem.assistant import Assistant
from pipimem.errors import ChannelError
from pydantic import BaseModel


class Incoming(BaseModel):
    """A message as a platform sends it; with its `id` a message sent twice is stored once."""

    channel: str
    text: str
    speaker: str = ""
    id: str = ""
    is_group: bool = True


async def reply(turn: Turn) -> str:
    """Your own model goes here: `standing` behind its system prompt, `recalled` before the text."""
    return turn.context or "Noted."


def app_for(workspace: Path, assistant: Assistant | None = None) -> FastAPI:
    """The application of one workspace."""
    pipimem = Pipimem(workspace, assistant=assistant)
    # A conversation has one turn at a time; others go on meanwhile.
    turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await pipimem.start()
        yield
        await pipimem.aclose()

    app = FastAPI(lifespan=lifespan)

    @app.post("/messages")
    async def answer(message: Incoming) -> dict[str, str]:
        """One turn. What memory cannot do is told in `problem`; the answer comes all the same."""
        kind = "group" if message.is_group else "dm"
        channel = await pipimem.channel(message.channel, kind=kind)
        async with turns[message.channel]:
            turn = await channel.before_turn(
                message.text, speaker=message.speaker, visible=Visible.NOTHING
            )
            said = Message.user(message.text, id=message.id, speaker=message.speaker)
            text = await reply(turn)
            own = f"{message.id}:reply" if message.id else ""
            try:
                await channel.after_turn(turn, [said, Message.assistant(text, id=own)])
            except StoreError as error:
                return {"reply": text, "problem": str(error)}
        return {"reply": text, "problem": turn.problem}

    @app.post("/sessions/end")
    async def end(channel: str) -> dict[str, str]:
        """A session ends: what was said is learnt. 404 for a conversation that does not exist."""
        try:
            known = await pipimem.channel(channel, create=False)
        except ChannelError:
            raise HTTPException(404, "There is no such conversation.") from None
        async with turns[channel]:
            receipt = await known.reset(deadline=60)
        return {"state": receipt.state, "reason": receipt.reason}

    @app.get("/memory")
    async def memory(channel: str) -> list[dict[str, str]]:
        """What is remembered of a conversation."""
        try:
            known = await pipimem.channel(channel, create=False)
        except ChannelError:
            raise HTTPException(404, "There is no such conversation.") from None
        return [{"id": entry.id, "text": entry.text} for entry in await known.notes.entries()]

    return app


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "workspace")
    folder.mkdir(exist_ok=True)
    (folder / "pipimem.toml").touch()
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    uvicorn.run(app_for(folder), host="127.0.0.1", port=port, timeout_graceful_shutdown=5)
