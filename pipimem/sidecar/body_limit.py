"""A bound on the body of a response: neither litellm nor httpx has one, and a server may never end.

httpx counts what it reads within `bounded`, after it was unpacked; elsewhere in the process it reads
as ever.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from types import ModuleType

# The longest answer we ask for has 40 KB, the vectors of a request some 4 MB.
MOST_BYTES = 16 * 1024 * 1024
_MARK = "_pipimem_bounded"


class BodyTooLong(Exception):
    """Ends the reading of a body; nobody outside this package sees it."""


@dataclass(slots=True)
class Body:
    """How much was read of the responses to one request."""

    most: int
    read: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there was more than may be read."""
        return self.read > self.most

    def counted(self, piece: bytes) -> bytes:
        """The piece; raises `BodyTooLong` where it is too much."""
        self.read += len(piece)
        if self.is_cut:
            raise BodyTooLong(f"more than {self.most} bytes")
        return piece


_COUNTING: ContextVar[Body | None] = ContextVar("pipimem_body", default=None)


@contextmanager
def bounded(most: int = MOST_BYTES) -> Iterator[Body]:
    """What is read over httpx from here on, in this task and its threads, is at most so many bytes."""
    body = Body(most)
    token = _COUNTING.set(body)
    try:
        yield body
    finally:
        _COUNTING.reset(token)


def teach(httpx: ModuleType) -> None:
    """Has httpx look for a bound when it reads; once for a process."""
    response = httpx.Response
    if getattr(response, _MARK, False):
        return
    response.iter_bytes = _bounded(response.iter_bytes)
    response.aiter_bytes = _bounded_async(response.aiter_bytes)
    setattr(response, _MARK, True)


def _bounded(iter_bytes: Callable[..., Generator[bytes]]) -> Callable[..., Iterator[bytes]]:
    @wraps(iter_bytes)
    def read(response: object, chunk_size: int | None = None) -> Iterator[bytes]:
        body = _COUNTING.get()
        pieces = iter_bytes(response, chunk_size)
        return pieces if body is None else map(body.counted, pieces)

    return read


def _bounded_async(
    aiter_bytes: Callable[..., AsyncGenerator[bytes]],
) -> Callable[..., AsyncGenerator[bytes]]:
    async def counted(body: Body, pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        async with aclosing(pieces):
            async for piece in pieces:
                yield body.counted(piece)

    @wraps(aiter_bytes)
    def read(response: object, chunk_size: int | None = None) -> AsyncGenerator[bytes]:
        body = _COUNTING.get()
        pieces = aiter_bytes(response, chunk_size)
        return pieces if body is None else counted(body, pieces)

    return read
