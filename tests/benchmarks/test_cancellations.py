"""Cancelled calls: a sample of each loop, and a judge who notices what is lost or left."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from benchmarks.cancellations import Ledger, afterwards, opened, storm
from benchmarks.http_replay import respond
from pipimem import Message
from pipimem.notes.usage import Reservation
from pipimem.store.workspace import WorkspaceStore

from tests.servers.openai import OpenAIServer

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and a model that answers."""
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        WorkspaceStore.init(tmp_path / "w")
        yield tmp_path / "w"


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_cancelled_calls_lose_and_leave_nothing(root: Path, loop: str) -> None:
    """Thirty of all kinds; 3,000 are the benchmark."""
    ledger = Ledger()
    anyio.run(storm, root, ledger, 30, 3, loop, backend=loop)
    assert ledger.wrong == []
    assert ledger.counts["acknowledged: message"] > 0


def test_the_judge_notices_what_is_lost_doubled_and_left(root: Path) -> None:
    """An acknowledged message that is not there, an entry there twice, a hold of nobody."""
    ledger = Ledger()
    for name in ("lost", "there"):
        ledger.said("room", name)

    async def lived() -> None:
        async with opened(root) as pipimem:
            for name in ("room", "hall", "cid6/AZ=="):
                channel = await pipimem.channel(name)
                await channel.take_in([Message.user("hello", id="there")])
                channel._has_new_messages = False

    anyio.run(lived)
    (root / "channels" / "room" / "MEMORY.md").write_text("## Facts\n\n- twice\n- twice\n")
    when = "2026-03-02T09:00:00+08:00"
    WorkspaceStore.open(root).usage_store.place(
        Reservation(when, when, "room", "chat", "m", 1, 1, None, "c")
    )
    afterwards(root, ledger)
    assert [sentence.partition(":")[0] for sentence in ledger.wrong] == [
        "left holds",
        "room",
        "room",
    ]
    assert ledger.wrong[1:] == ["room: message lost is lost", "room: entry twice is there 2 times"]
