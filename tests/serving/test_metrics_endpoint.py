"""The endpoint answers three pages to this machine, and nothing else to nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from pipimem.errors import SettingsError
from pipimem.runtime.observability.metrics import Metrics
from pipimem.runtime.observability.readiness import Readiness
from pipimem.serving import metrics_endpoint
from pipimem.serving.metrics_endpoint import Address, serving_metrics

from tests.cases import each, table
from tests.runtime.observability.talk import remembering

pytestmark = pytest.mark.anyio


class Served:
    """Where the endpoint is, and what its readiness says."""

    def __init__(self, address: Address, problems: list[str]) -> None:
        self.address, self.problems = address, problems

    async def ask(self, head: str) -> tuple[int, str, str]:
        """The status, the head and the body for the raw head of a request."""
        return await self.send(head.format(host=self.address.shown).encode("latin-1"))

    async def send(self, request: bytes) -> tuple[int, str, str]:
        stream = await anyio.connect_tcp("127.0.0.1", self.address.port)
        received = b""
        async with stream:
            await stream.send(request)
            async for part in stream:
                received += part
        head, _, body = received.decode().partition("\r\n\r\n")
        return int(head.split()[1]), head, body

    async def get(self, path: str) -> tuple[int, str]:
        status, _, body = await self.ask(f"GET {path} HTTP/1.1\r\nHost: {{host}}\r\n\r\n")
        return status, body


@asynccontextmanager
async def served(tmp_path: Path, host: str = "127.0.0.1") -> AsyncIterator[Served]:
    async with remembering(tmp_path) as (pipimem, _):
        problems = [""]
        metrics = Metrics(pipimem, Readiness(pipimem, lambda: problems[0]))
        async with serving_metrics(metrics, Address(host, 0)) as address:
            yield Served(address, problems)


@pytest.mark.both_loops
async def test_the_three_pages(tmp_path: Path) -> None:
    """Metrics in Prometheus' type, health, and readiness with its sentence."""
    async with served(tmp_path) as endpoint:
        status, head, body = await endpoint.ask("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n")
        assert (status, body[:19]) == (200, "# HELP pipimem_info")
        assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head
        assert await endpoint.get("/healthz") == (200, "ok\n")
        assert await endpoint.get("/readyz?verbose") == (200, "ready\n")
        endpoint.problems[0] = "there is no Stream connection"
        assert await endpoint.get("/readyz") == (503, "there is no Stream connection\n")
        assert "pipimem_ready 0" in (await endpoint.get("/metrics"))[1]
        assert await endpoint.get("/healthz") == (200, "ok\n")


@pytest.mark.parametrize(
    ("head", "status"),
    table(__file__, "what_is_no_question_of_a_scraper"),
)
async def test_what_is_no_question_of_a_scraper(tmp_path: Path, head: str, status: int) -> None:
    """A page that has its name resolved to this machine sends its own name as Host."""
    async with served(tmp_path) as endpoint:
        found, _, body = await endpoint.ask(head)
        assert (found, "pipimem_" in body) == (status, False)


@pytest.mark.both_loops
async def test_a_request_without_an_end_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too long or too slow: neither holds a place for ever."""
    monkeypatch.setattr(metrics_endpoint, "_SECONDS", 0.2)
    async with served(tmp_path) as at:
        status, _, _ = await at.send(b"GET /" + b"x" * 9_000)
        assert status == 400
        with anyio.fail_after(60):
            streams = [await anyio.connect_tcp("127.0.0.1", at.address.port) for _ in range(20)]
            for stream in streams:
                await stream.send(b"GET /metrics HTTP/1.1\r\n")
            assert await at.get("/healthz") == (200, "ok\n")
        for stream in streams:
            await stream.aclose()


async def test_others_ask_by_any_name_where_they_may(tmp_path: Path) -> None:
    """An address for other machines has names that we do not know."""
    async with served(tmp_path, "0.0.0.0") as at:
        status, _, _ = await at.ask("GET /healthz HTTP/1.1\r\nHost: bots.example:9464\r\n\r\n")
        assert status == 200


@each(
    ("text", "host", "port", "is_loopback"),
    table(__file__, "an_address_is_read"),
)
def test_an_address_is_read(text: str, host: str, port: int, is_loopback: bool) -> None:
    """A port alone is on loopback."""
    address = Address.parsed(text)
    assert (address.host, address.port, address.is_loopback) == (host, port, is_loopback)


@each("text", ["", "host", "host:", "127.0.0.1:65536", "1:-1", "a:٣"])
def test_what_is_no_address_is_refused(text: str) -> None:
    """With a sentence that says how it is written."""
    with pytest.raises(SettingsError, match="write HOST:PORT, or PORT"):
        Address.parsed(text)
