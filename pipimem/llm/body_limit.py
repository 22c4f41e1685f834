"""A limit on the body of a response: neither litellm nor httpx has one, and a server may never end.

Inside `limited_body` httpx counts what it reads, after decompression. Elsewhere in the process its
reading is unchanged.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from types import ModuleType

# The longest answer we ask for has 40 KB, the vectors of a request some 4 MB.
_LIMIT_BYTES = 16 * 1024 * 1024
_INSTALLED = "_pipimem_limited"


class BodyTooLong(Exception):
    """The body is longer than its limit; httpx passes it on to litellm, which wraps it."""


@dataclass(slots=True)
class Body:
    """How many bytes were read of the responses to one request."""

    limit: int
    read: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether the body was longer than its limit."""
        return self.read > self.limit

    def counted(self, piece: bytes) -> bytes:
        """Returns the piece; raises `BodyTooLong` once more than `limit` bytes were read."""
        self.read += len(piece)
        if self.is_cut:
            raise BodyTooLong(f"more than {self.limit} bytes")
        return piece


_CURRENT: ContextVar[Body | None] = ContextVar("pipimem_body", default=None)


@contextmanager
def limited_body(limit: int = _LIMIT_BYTES) -> Iterator[Body]:
    """Limits what httpx reads inside the context to `limit` bytes, in this task and its threads."""
    body = Body(limit)
    token = _CURRENT.set(body)
    try:
        yield body
    finally:
        _CURRENT.reset(token)


def install(httpx: ModuleType) -> None:
    """Makes `httpx.Response` count what it reads; once a process, further calls do nothing."""
    response = httpx.Response
    if getattr(response, _INSTALLED, False):
        return
    response.iter_bytes = _limited(response.iter_bytes)
    response.aiter_bytes = _limited_async(response.aiter_bytes)
    setattr(response, _INSTALLED, True)


def _counted(piece: bytes) -> bytes:
    body = _CURRENT.get()
    return piece if body is None else body.counted(piece)


def _limited(iter_bytes: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
    @wraps(iter_bytes)
    def read(response: object, chunk_size: int | None = None) -> Iterator[bytes]:
        for piece in iter_bytes(response, chunk_size):
            yield _counted(piece)

    return read


def _limited_async(
    aiter_bytes: Callable[..., AsyncGenerator[bytes]],
) -> Callable[..., AsyncGenerator[bytes]]:
    @wraps(aiter_bytes)
    async def read(response: object, chunk_size: int | None = None) -> AsyncGenerator[bytes]:
        async with aclosing(aiter_bytes(response, chunk_size)) as pieces:
            async for piece in pieces:
                yield _counted(piece)

    return read
