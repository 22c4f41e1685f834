"""Bodies of requests as the SDK can read them, without the halves of characters that JSON has."""

from __future__ import annotations

import re
from dataclasses import dataclass

import anyio
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipimem.text.characters import storable_json

# As the SDK's bound, which answers a longer one with 413.
_LONGEST_BODY = 4 << 20
# A client on this machine sends 4 MiB in milliseconds; whoever takes longer holds memory for none.
_LONGEST_SECONDS = 30.0
_TOO_SLOW = PlainTextResponse(
    "The request took too long to arrive.", 408, headers={"Connection": "close"}
)
# Half of a pair, or a whole one, as JSON may write it.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class RepairedBodies:
    """Hands bodies on with U+FFFD for each half of a character: models cut emoji in half."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        message = None
        with anyio.move_on_after(_LONGEST_SECONDS):
            message = await _whole(receive)
        if message is None:
            await _TOO_SLOW(scope, receive, send)
            return
        messages = [message]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)


async def _whole(receive: Receive) -> Message:
    """A request's body as one message; of one that is too long no more than shows that it is."""
    held, message = bytearray(), await receive()
    while message["type"] == "http.request":
        held += message.get("body", b"")
        if not message.get("more_body") or len(held) > _LONGEST_BODY:
            return {**message, "body": _repaired(bytes(held))}
        message = await receive()
    return message


def _repaired(body: bytes) -> bytes:
    """A body of JSON in which halves of characters are replaced; any other one as it is."""
    if _SURROGATE.search(body) is None:
        return body
    try:
        return storable_json(body).encode()
    except (ValueError, RecursionError):
        return body
