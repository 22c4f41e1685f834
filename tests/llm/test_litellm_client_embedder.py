"""Embedding through litellm, over real HTTP."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pipimem.clock import Clock
from pipimem.errors import BudgetSpent, ModelUnavailable
from pipimem.llm.admission import prompt_tokens
from pipimem.llm.litellm_client import LiteLLMEmbedder
from pipimem.llm.metering import Attempt
from pipimem.llm.request import ModelRequest, Price
from pipimem.notes.usage import Reservation, Usage


class Provider(BaseHTTPRequestHandler):
    """Gives each text its length as a vector, in the wrong order; refuses the key `wrong`."""

    def do_POST(self) -> None:
        """Answer one request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        refused = "wrong" in self.headers["Authorization"]
        texts = asked["input"]
        rows = [
            {"object": "embedding", "index": i, "embedding": [float(len(text)), 1.0]}
            for i, text in enumerate(texts)
        ]
        told = {"object": "list", "model": asked["model"], "data": rows[::-1]}
        told["usage"] = {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)}
        body = json.dumps({"error": {"message": "no such key"}} if refused else told).encode()
        self.send_response(401 if refused else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@pytest.fixture(autouse=True)
def _provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Listens where litellm looks for it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OPENAI_API_BASE", f"http://127.0.0.1:{server.server_address[1]}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "right")
    yield
    server.shutdown()
    server.server_close()
    # litellm leaves an event loop open that it made; it must not be collected in another test.
    asyncio.set_event_loop(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def remote(told: list[Usage], most: int = 1_000_000) -> LiteLLMEmbedder:
    clock = Clock(wall=lambda: datetime(2026, 3, 2, tzinfo=UTC))

    def begin(ask: ModelRequest, price: Price | None) -> Attempt:
        if prompt_tokens(ask) > most:
            raise BudgetSpent("nothing is left")
        when = clock.wall().isoformat()
        return Attempt(
            ask,
            Reservation(when, when, "", ask.task, ask.model, 0, 0, None, "c"),
            price,
            clock,
            told.append,
        )

    return LiteLLMEmbedder("openai/some-embedder", begin)


def test_texts_become_vectors_in_their_order() -> None:
    """Many texts are few requests, each a line of the ledger with what the provider counted."""
    told: list[Usage] = []
    texts = ["x" * size for size in range(1, 101)]
    assert [vector[0] for vector in remote(told).passages(texts)] == [
        float(size) for size in range(1, 101)
    ]
    assert [(one.task, one.tokens_in, one.tokens_out, one.outcome) for one in told] == [
        ("embed", 192, 0, "ok"),
        ("embed", 108, 0, "ok"),
    ]
    assert told[0].cost is None  # nobody knows its price


def test_a_refused_key_is_told_and_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one of our errors, and one line of the ledger."""
    told: list[Usage] = []
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(ModelUnavailable, match="key"):
        remote(told).queries(["hello"])
    assert [(one.outcome, one.tokens_in) for one in told] == [("denied", 0)]


def test_without_a_budget_nothing_is_sent() -> None:
    """And nothing is recorded."""
    told: list[Usage] = []
    with pytest.raises(BudgetSpent):
        remote(told, most=2).queries(["a question of more than two tokens"])
    assert told == []
