"""A channel's memory as a question finds it, without an event loop."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path

from pipimem.runtime.reading import Reading, Vocabulary
from pipimem.settings import RecallSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.runtime.building import MORNING, workspace, write


def reading(root: Path) -> Reading:
    store = WorkspaceStore.open(root)
    return Reading.of(ChannelStore.open(store, "room", create=False), Vocabulary(store), RecallSettings())


def texts(found: Reading, question: str, now: datetime = MORNING) -> list[str]:
    found.notes()
    return [item.text for item in found.recalled(question, now).injected]


def test_an_edit_is_read_at_the_next_question(tmp_path: Path) -> None:
    """The file is the memory."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called hermes\n")
    room = reading(root)
    assert texts(room, "what is the mail server called?") == ["the mail server is called hermes"]
    write(root, "MEMORY.md", "## Facts\n\n- the mail server is called apollo now\n")
    assert texts(room, "what is the mail server called?") == ["the mail server is called apollo now"]


def test_words_txt_counts(tmp_path: Path) -> None:
    """A group of words.txt finds what was said with another word of it."""
    root = workspace(tmp_path)
    (root / "words.txt").write_text("帆船, sailing boat\n", encoding="utf-8")
    write(root, "MEMORY.md", "## Facts\n\n- 帆船停在三号码头\n- 食堂在二楼\n")
    assert texts(reading(root), "where is the sailing boat?") == ["帆船停在三号码头"]


def test_a_cold_recall_loads_no_event_loop() -> None:
    """The command line's recall is a process for one question: what it does not need it does not load."""
    code = "import sys, pipimem.runtime.reading; print(*[m for m in ('anyio', 'asyncio', 'click') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
