"""Bodies of requests as the SDK can read them, without the halves of characters that JSON has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipimem.text.surrogates import storable_json

# As the SDK's bound, which answers a longer one with 413.
_LONGEST_BODY = 4 << 20
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
        held, message = bytearray(), await receive()
        while message["type"] == "http.request":
            held += message.get("body", b"")
            if not message.get("more_body") or len(held) > _LONGEST_BODY:
                break
            message = await receive()
        if message["type"] == "http.request":
            message = {**message, "body": _repaired(bytes(held))}
        messages = [message]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)


def _repaired(body: bytes) -> bytes:
    """A body of JSON in which halves of characters are replaced; any other one as it is."""
    if _SURROGATE.search(body) is None:
        return body
    try:
        return storable_json(body).encode()
    except (ValueError, RecursionError):
        return body
