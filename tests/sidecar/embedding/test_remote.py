"""Embedding through litellm, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pipimem.clock import Clock
from pipimem.errors import BudgetSpent, ModelUnavailable
from pipimem.notes.usage import Hold, Usage
from pipimem.sidecar.door import Ask, Price
from pipimem.sidecar.embedding.remote import Remote
from pipimem.sidecar.governor import prompt_tokens
from pipimem.sidecar.metering import Attempt


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


@pytest.fixture
def url() -> Iterator[str]:
    """Where the provider listens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def remote(url: str, told: list[Usage], key: str = "right", most: int = 1_000_000) -> Remote:
    clock = Clock(wall=lambda: datetime(2026, 3, 2, tzinfo=UTC))

    def begin(ask: Ask, price: Price | None) -> Attempt:
        if prompt_tokens(ask) > most:
            raise BudgetSpent("nothing is left")
        when = clock.wall().isoformat()
        return Attempt(
            ask,
            Hold(when, when, "", ask.task, ask.model, 0, 0, None, "c"),
            price,
            clock,
            told.append,
        )

    return Remote("openai/some-embedder", begin, api_base=url, api_key=key)


def test_texts_become_vectors_in_their_order(url: str) -> None:
    """Many texts are few requests, each a line of the ledger with what the provider counted."""
    told: list[Usage] = []
    texts = ["x" * size for size in range(1, 101)]
    assert [vector[0] for vector in remote(url, told).passages(texts)] == [
        float(size) for size in range(1, 101)
    ]
    assert [(one.task, one.tokens_in, one.tokens_out, one.outcome) for one in told] == [
        ("embed", 192, 0, "ok"),
        ("embed", 108, 0, "ok"),
    ]
    assert told[0].cost is None  # nobody knows its price


def test_a_refused_key_is_told_and_recorded(url: str) -> None:
    """It is one of our errors, and one line of the ledger."""
    told: list[Usage] = []
    with pytest.raises(ModelUnavailable, match="key"):
        remote(url, told, key="wrong").queries(["hello"])
    assert [(one.outcome, one.tokens_in) for one in told] == [("denied", 0)]


def test_without_a_budget_nothing_is_sent(url: str) -> None:
    """And nothing is recorded."""
    told: list[Usage] = []
    with pytest.raises(BudgetSpent):
        remote(url, told, most=2).queries(["a question of more than two tokens"])
    assert told == []
