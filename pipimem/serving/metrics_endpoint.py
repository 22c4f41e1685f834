"""`/metrics`, `/healthz` and `/readyz` over HTTP, for Prometheus and whoever restarts services.

A server of its own, beside what a command serves: nobody who scrapes needs that one's token, and
nobody who has that token is needed to scrape. It answers GET and nothing else, one request a
connection, and runs on the event loop, so that a loop that hangs does not call itself healthy.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from pipimem.errors import SettingsError
from pipimem.runtime.observability.metric_names import CONTENT_TYPE
from pipimem.runtime.observability.metrics import Metrics
from pipimem.runtime.observability.readiness import Readiness
from pipimem.serving.access import is_loopback, loopback_hosts

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

# A scraper sends some hundred bytes; what is longer or slower is none.
_MOST_BYTES = 8 << 10
_SECONDS = 10.0
_AT_ONCE = 8
_PLAIN = "text/plain; charset=utf-8"
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    421: "Misdirected Request",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the endpoint listens; port 0 takes a free one."""

    host: str
    port: int

    @classmethod
    def parsed(cls, text: str) -> Address:
        """The address of `HOST:PORT`, `[::1]:PORT` or `PORT` alone, which is on loopback.

        Raises `SettingsError` for anything else.
        """
        host, _, port = text.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise SettingsError(f"{text!r} is no address for metrics: write HOST:PORT, or PORT")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    @property
    def shown(self) -> str:
        """Host and port as they stand in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    body: str
    content_type: str = _PLAIN

    def written(self) -> bytes:
        body = self.body.encode("utf-8")
        head = (
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n"
            f"Content-Type: {self.content_type}\r\nContent-Length: {len(body)}\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n\r\n"
        )
        return head.encode("ascii") + body


def serve_workspace_metrics(
    pipimem: Pipimem, address: Address, *problems: Callable[[], str]
) -> AbstractAsyncContextManager[Address]:
    """Serve the metrics of a workspace; each of `problems` returns why it is not ready, or ""."""
    return serving_metrics(Metrics(pipimem, Readiness(pipimem, *problems)), address)


@asynccontextmanager
async def serving_metrics(metrics: Metrics, address: Address) -> AsyncIterator[Address]:
    """Serve the metrics while the context lasts; gives where, with the port that was taken.

    Raises `OSError` where the address cannot be listened on. Who is not on this machine is answered
    where the address is not of loopback: whether it may be is the caller's to decide.
    """
    listener = await anyio.create_tcp_listener(
        local_host=address.host, local_port=address.port, backlog=64
    )
    async with listener, anyio.create_task_group() as tasks:
        port = listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610 - no Django
        taken = Address(address.host, int(port))
        # Another name is that of a foreign page, which had it resolved to this machine.
        hosts = loopback_hosts(taken.port) if address.is_loopback else ()
        places = anyio.CapacityLimiter(_AT_ONCE)

        async def handle(stream: SocketStream) -> None:
            async with places, stream:
                await _answer(stream, metrics, hosts)

        tasks.start_soon(listener.serve, handle)
        yield taken
        tasks.cancel_scope.cancel()


async def _answer(stream: SocketStream, metrics: Metrics, hosts: Collection[str]) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.IncompleteRead):
        with anyio.move_on_after(_SECONDS):
            try:
                receiving = BufferedByteReceiveStream(stream)
                head = await receiving.receive_until(b"\r\n\r\n", _MOST_BYTES)
                response = await _response(head.decode("latin-1"), metrics, hosts)
            except anyio.DelimiterNotFound:
                response = _Response(400, "The request is too long.\n")
            await stream.send(response.written())


async def _response(head: str, metrics: Metrics, hosts: Collection[str]) -> _Response:
    """The answer to the head of a request."""
    first, *lines = head.split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return _Response(400, "This is no request.\n")
    method, target, _ = parts
    named = [line[5:].strip() for line in lines if line.lower().startswith("host:")]
    if hosts and (len(named) != 1 or named[0].lower() not in hosts):
        return _Response(421, "This server does not answer to that host.\n")
    page = _PAGES.get(target.partition("?")[0])
    if page is None:
        return _Response(404, "There are /metrics, /healthz and /readyz.\n")
    if method != "GET":
        return _Response(405, "Only GET.\n")
    return await page(metrics)


async def _metrics_page(metrics: Metrics) -> _Response:
    return _Response(200, await metrics.text(), CONTENT_TYPE)


async def _health_page(metrics: Metrics) -> _Response:  # noqa: ARG001 - that it answers is enough
    return _Response(200, "ok\n")


async def _readiness_page(metrics: Metrics) -> _Response:
    problem = await to_thread.run_sync(metrics.readiness.problem)
    return _Response(503, f"{problem}\n") if problem else _Response(200, "ready\n")


_PAGES: dict[str, Callable[[Metrics], Awaitable[_Response]]] = {
    "/metrics": _metrics_page,
    "/healthz": _health_page,
    "/readyz": _readiness_page,
}
