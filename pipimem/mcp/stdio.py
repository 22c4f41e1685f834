"""Standard input and output as the transport of one client: a JSON message a line.

The SDK's own transport reads in a thread that nothing can cancel, so that a signal would wait for
the client's next line; it cancels the calls that are under way where the input ends, and leaves
what is no message without an answer.
"""

from __future__ import annotations

import os
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from pipimem.text.characters import storable_json

# So long calls that are under way may go on when the input has ended.
_GRACE = 10.0
_LOOK_AGAIN = 0.01
# After that a client that reads nothing any more holds the end up no longer.
_LAST_WORDS = 2.0
_READ_AT_ONCE = 1 << 16
# As the SDK's bound on the body of an HTTP request.
_LONGEST_LINE = 4 << 20
# A pipe that is ready for writing takes so much without blocking.
_WRITTEN_AT_ONCE = 4096
# Never answered while it goes on.
_LISTEN = "subscriptions/listen"

Receiving = MemoryObjectReceiveStream[SessionMessage | Exception]
Sending = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def stdio_streams(
    stopped: anyio.Event, read_from: int = 0, write_to: int = 1
) -> AsyncIterator[tuple[Receiving, Sending]]:
    """What a client sends, and what it is sent, until its end of the input or until `stopped`.

    Meanwhile whatever else writes to `write_to` writes to standard error. Calls that are under way
    at the end are answered, for ten seconds at most; a client that does not read is left then.
    """
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    with _kept_apart(write_to) as wire:
        client = _Client(read_from, wire, stopped)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.read, to_server, to_client.clone())
            tasks.start_soon(client.leave_at_the_end)
            async with anyio.create_task_group() as writing:
                writing.start_soon(client.write, from_server)
                async with from_client, to_client:
                    yield from_client, to_client
                    client.stop_reading()
            tasks.cancel_scope.cancel()


class _Client:
    """The other end of two pipes."""

    def __init__(self, read_from: int, write_to: int, stopped: anyio.Event) -> None:
        self._read_from = read_from
        self._write_to = write_to
        self._stopped = stopped
        # Requests that were read and are not answered yet.
        self._under_way: set[RequestId] = set()
        self._reading = anyio.CancelScope()
        self._has_read = anyio.Event()
        # The message that is being written, and whether the client takes none any more.
        self._writing = anyio.CancelScope()
        self._is_gone = False

    def stop_reading(self) -> None:
        """The server has ended, whatever the client still sends."""
        self._reading.cancel()

    async def read(
        self, to_server: MemoryObjectSendStream[SessionMessage | Exception], to_client: Sending
    ) -> None:
        """Hands messages on until the input ends, then waits for the calls under way.

        What is no message is answered with an error.
        """
        with self._reading:
            async with to_server, to_client:
                await self._read(to_server, to_client)
        self._has_read.set()

    async def leave_at_the_end(self) -> None:
        """Lets nothing wait for a client that does not read, once its input has ended."""
        await self._has_read.wait()
        await anyio.sleep(_LAST_WORDS)
        self._is_gone = True
        self._writing.cancel()

    async def _read(
        self, to_server: MemoryObjectSendStream[SessionMessage | Exception], to_client: Sending
    ) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel_when_stopped, tasks.cancel_scope)
            async for line in _lines(self._read_from):
                try:
                    message = _message(line)
                except (ValueError, RecursionError) as error:
                    await to_client.send(SessionMessage(_refusal(error)))
                else:
                    self._note(message)
                    await to_server.send(SessionMessage(message))
            tasks.cancel_scope.cancel()
        with anyio.move_on_after(_GRACE):
            while self._under_way:
                await anyio.sleep(_LOOK_AGAIN)

    async def write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Writes what the server sends until it ends; a client that is gone stops the server."""
        async with from_server:
            async for sent in from_server:
                if not self._is_gone:
                    await self._write(
                        sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                    )
                if isinstance(sent.message, JSONRPCResponse | JSONRPCError):
                    self._answered(sent.message.id)

    async def _write(self, text: str) -> None:
        try:
            with anyio.CancelScope() as self._writing:
                await _write_all(self._write_to, text.encode() + b"\n")
        except OSError:  # the client is gone: nobody waits for an answer
            self._under_way.clear()
            self._stopped.set()

    def _answered(self, name: RequestId | None) -> None:
        if name is not None:
            self._under_way.discard(name)

    async def _cancel_when_stopped(self, scope: anyio.CancelScope) -> None:
        await self._stopped.wait()
        scope.cancel()

    def _note(self, message: JSONRPCMessage) -> None:
        """Counts a request as under way, until it is answered or called off."""
        match message:
            case JSONRPCRequest() if message.method != _LISTEN:
                self._under_way.add(message.id)
            case JSONRPCNotification(method="notifications/cancelled", params=dict(params)):
                name = params.get("requestId")
                if isinstance(name, int | str):
                    self._under_way.discard(name)


def _message(line: bytes) -> JSONRPCMessage:
    """The message of a line. Raises `ValueError` for what is none."""
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        # Only Python's own parser reads halves of characters.
        return jsonrpc_message_adapter.validate_json(storable_json(line), by_name=False)


def _refusal(error: Exception) -> JSONRPCError:
    data = ErrorData(code=PARSE_ERROR, message=f"The line is no JSON: {error}.")
    if isinstance(error, ValidationError):
        data = ErrorData(code=INVALID_REQUEST, message="The line is no JSON-RPC message.")
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """The lines that arrive, until the end of the input; one that is too long comes cut off."""
    rest, is_dropped = b"", False
    while True:
        await _ready(anyio.wait_readable, descriptor)
        data = os.read(descriptor, _READ_AT_ONCE)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if not is_dropped and line.strip():
                yield line
            is_dropped = False
        if not data:
            if rest.strip() and not is_dropped:
                yield rest
            return
        if len(rest) > _LONGEST_LINE:
            if not is_dropped:
                yield rest[:_READ_AT_ONCE]
            rest, is_dropped = b"", True


async def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    has_room = select.poll()
    has_room.register(descriptor, select.POLLOUT)
    while view:
        if not has_room.poll(0):  # to ask the event loop costs a tenth of a millisecond
            await _ready(anyio.wait_writable, descriptor)
        view = view[os.write(descriptor, view[:_WRITTEN_AT_ONCE]) :]


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    """Waits for a pipe or a terminal; a plain file is always ready."""
    try:
        await wait(descriptor)
    except PermissionError:
        await anyio.lowlevel.checkpoint()


@contextmanager
def _kept_apart(descriptor: int) -> Iterator[int]:
    """A descriptor of its own for the protocol; the old one leads to standard error meanwhile."""
    wire = os.dup(descriptor)
    os.dup2(2, descriptor)
    try:
        yield wire
    finally:
        os.dup2(wire, descriptor)
        os.close(wire)
