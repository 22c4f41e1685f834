"""A conversation to think about, a model server to ask, and the ledger it ends in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

import pytest
from pipimem.clock import Clock
from pipimem.llm.client import RetryingClient
from pipimem.llm.litellm_client import LiteLLM
from pipimem.llm.metering import Admit, Attempt
from pipimem.llm.request import ModelRequest
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.notes.usage import Reservation, Usage
from pipimem.sidecar.model import ModelAssistant
from pipimem.sidecar.prompts import Prompts
from pipimem.sidecar.tasks import Call, Consolidate, KnownEntry

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def said(number: int, content: str, speaker: str = "Dana") -> Message:
    """What a person says at ten past nine."""
    return Message(
        "user",
        content,
        f"{number}",
        datetime(2026, 3, 4, 9, 10, tzinfo=UTC),
        speaker,
        number=number,
    )


def answered(number: int, content: str) -> Message:
    """What the bot answers a minute later."""
    return Message(
        "assistant",
        content,
        f"{number}",
        datetime(2026, 3, 4, 9, 11, tzinfo=UTC),
        "pipi",
        number=number,
    )


@pytest.fixture
def task() -> Consolidate:
    """Two entries known, two messages new."""
    return Consolidate(
        now=NOW,
        participants=("Dana",),
        memory=(
            KnownEntry("k1", "Decisions", "The release is on Thursday", Trust.INFERRED, 3),
            KnownEntry("k2", "Preferences", "林晓喜欢简短的回答"),
        ),
        window=(said(1, "We ship on Friday instead."), answered(2, "Noted.")),
    )


def learnt(**changes: object) -> dict[str, object]:
    """One learned item of an answer."""
    item: dict[str, object] = {
        "kind": "decision",
        "text": "The release is on 2026-03-06",
        "sources": ["1"],
        "speaker": "Dana",
        "necessity": "high",
        "explicit": False,
        "replaces": ["k1"],
    }
    return item | changes


def answer(**changes: object) -> str:
    """A good answer to `task`, as a model would write it, but for the changes."""
    body: dict[str, object] = {
        "learned": [learnt()],
        "over": [],
        "title": "Release moved",
        "history": [{"text": "Dana moved the release to 2026-03-06", "sources": ["1"]}],
    }
    return json.dumps(body | changes, ensure_ascii=False)


def unlimited(
    record: Callable[[Usage], None],
    wall: Callable[[], datetime],
    monotonic: Callable[[], float] = monotonic,
) -> Admit:
    """Attempts that no budget holds: each is let out as it is, and `record` takes its line."""

    async def begin(ask: ModelRequest) -> Attempt:
        when = wall().isoformat()
        hold = Reservation(
            when, when, ask.channel, ask.task, ask.model, 0, 0, None, ask.correlation
        )
        return Attempt(ask, hold, None, Clock(wall=wall, monotonic=monotonic), record)

    return begin


@dataclass
class Books:
    """A model assistant on a server, and what it put into the ledger."""

    environment: pytest.MonkeyPatch
    used: list[Usage] = field(default_factory=list)

    def assistant(self, url: str, *models: str, concurrency: int = 4) -> ModelAssistant:
        """An assistant on the models served at `url`."""
        self.environment.setenv("OPENAI_API_BASE", f"{url}/v1")
        self.environment.setenv("OPENAI_API_KEY", "x")
        begin = unlimited(self.used.append, lambda: NOW)
        asking = RetryingClient(
            models or ("openai/test",), LiteLLM(), begin, monotonic, concurrency, chance=lambda: 0.0
        )
        return ModelAssistant(asking, Prompts())

    @property
    def outcomes(self) -> list[str]:
        """How the attempts ended, in order."""
        return [usage.outcome for usage in self.used]


@pytest.fixture
def books(monkeypatch: pytest.MonkeyPatch) -> Books:
    """An empty ledger."""
    return Books(monkeypatch)


@pytest.fixture
def call() -> Callable[[float], Call]:
    """A call of a number of seconds."""
    return lambda timeout: Call("release room", "c-1", timeout)
