"""A channel with a memory, a model server that means well, and a fault between them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import monotonic
from unittest.mock import patch

from pipimem import Channel, Message, Pipimem
from pipimem.llm.client import RetryingClient
from pipimem.llm.litellm_client import LiteLLM
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Trust
from pipimem.notes.usage import Usage
from pipimem.runtime.turns import Receipt
from pipimem.sidecar.model import ModelAssistant
from pipimem.sidecar.prompts import Prompts

from tests.runtime.building import MORNING, Hands, read, settings, workspace, write
from tests.servers.openai import ChatRequest, OpenAIServer, Reply
from tests.sidecar.conftest import unlimited

# The messages of a window as the prompt shows them: "[id] 2026-03-02 Mon 09:10 Dana: text".
_LINE = re.compile(r"^\[([^\]]+)\] \d{4}-\d\d-\d\d \w{3} \d\d:\d\d ([^:]+): (.+)$", re.MULTILINE)

TYPED = "# Memory\n\n## Facts\n\n- The office is on Kaistraße 5\n- 周会每周三 10:00\n"
LEARNT = (
    "The backup runs at 23:00 every night",
    "林晓喜欢简短的回答",
    "The release is on Thursday",
)
SAID = "The release train leaves on 2026-03-06"


@dataclass
class Mind:
    """What the server answers: an honest answer, or what `fault` makes of it for the consolidation.

    A fault sees the requests for a consolidation alone, numbered from 1.
    """

    fault: Callable[[ChatRequest, str], Reply] | None = None
    thought: list[ChatRequest] = field(default_factory=list)

    def respond(self, request: ChatRequest) -> Reply:
        """The answer to one request."""
        asked = request.system + request.user
        if '"learned"' not in asked:
            return Reply(json.dumps({"title": "Release", "remove": [], "add": []}))
        request = replace(request, number=len(self.thought) + 1)
        self.thought.append(request)
        honest = json.dumps(answer(request), ensure_ascii=False)
        return self.fault(request, honest) if self.fault else Reply(honest)


def answer(request: ChatRequest) -> dict[str, object]:
    """What an honest model says of a window: the words of the first person, and one line of
    history.
    """
    (first, speaker, text), *_ = _LINE.findall(request.user[request.user.rindex("New messages:") :])
    learnt = {
        "sources": [first], "speaker": speaker, "text": text, "kind": "decision",
        "necessity": "high", "explicit": False, "replaces": [],
    }  # fmt: skip
    return {
        "learned": [learnt],
        "over": [],
        "title": "Release",
        "history": [{"sources": [first], "text": f"{speaker} said when it leaves"}],
    }


@dataclass
class Room:
    """The channel, its folder, its mind and its ledger."""

    root: Path
    channel: Channel
    mind: Mind
    used: list[Usage]

    @property
    def memory(self) -> str:
        """MEMORY.md as it is on disk."""
        return read(self.root)

    async def gate(self, deadline: float = 20) -> Receipt:
        """A compaction's gate: the consolidation that the fault meets."""
        return await self.channel.before_compaction(deadline=deadline)

    @property
    def outcomes(self) -> list[str]:
        """How the attempts to consolidate ended."""
        return [usage.outcome for usage in self.used if usage.task == "consolidate"]


@asynccontextmanager
async def talked(
    tmp_path: Path, url: str, mind: Mind, *models: str, chance: Callable[[], float] = lambda: -0.5
) -> AsyncIterator[Room]:
    """A room where something was said that no thought has seen. With the `chance` as it is,
    tries follow at once.
    """
    root, used = workspace(tmp_path), list[Usage]()
    write(root, "MEMORY.md", TYPED)
    environment = {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "x"}
    begin = unlimited(used.append, lambda: MORNING)
    assistant = ModelAssistant(
        RetryingClient(models or ("openai/test",), LiteLLM(), begin, monotonic, chance=chance),
        Prompts(),
    )
    with patch.dict(os.environ, environment):
        async with Pipimem(
            root, assistant=assistant, settings=settings(), clock=Hands().clock()
        ) as pipimem:
            channel = await pipimem.channel("room", kind="group")
            adds = tuple(Add(Kind.FACT, text, Trust.INFERRED) for text in LEARNT)
            await channel._jobs.commit(Decision("consolidate", Author.MODEL, adds))
            await channel.notes.remember("Never deploy on a Friday", kind=Kind.CONSTRAINT)
            when = datetime.fromisoformat("2026-03-02T08:59:00+08:00")
            talk = [
                Message("user", SAID, "said-1", when, "Dana"),
                Message("assistant", "Noted.", "said-2", when, "pipi"),
            ]
            await channel.talk.append(talk)
            yield Room(root, channel, mind, used)
            mind.fault = None  # closing thinks once more


__all__ = [
    "LEARNT",
    "SAID",
    "Mind",
    "OpenAIServer",
    "Reply",
    "Room",
    "answer",
    "talked",
]
