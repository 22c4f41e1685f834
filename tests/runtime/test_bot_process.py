"""What a bot of 0.1 or 0.2 acknowledged and had not stored is taken in once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pipimem import Message, Pipimem, StoreError
from pipimem.errors import WorkspaceError
from pipimem.runtime.bot_process import process_lock, take_in_arrivals
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore
from pipimem.text import json_lines

from tests.runtime.building import MORNING, workspace

pytestmark = pytest.mark.anyio

LEFT = Path(__file__).parents[1] / "fixtures" / "dingtalk-arrivals-0.2.jsonl"
"""As pipimem 0.2 wrote it; the first message of `cidOther` was taken back."""


def left_in(root: Path) -> Path:
    """Have the file stand in a workspace."""
    (root / ".pipimem").mkdir(exist_ok=True)
    return shutil.copy(LEFT, root / ".pipimem" / "dingtalk-arrivals.jsonl")


def said(root: Path, name: str) -> list[tuple[str, str, str]]:
    """The transcript of a channel: id, speaker, content."""
    store = ChannelStore.open(WorkspaceStore.open(root), name, create=False)
    return [(one.id, one.speaker, one.content) for one in store.transcript.messages()]


async def test_acknowledged_messages_are_stored_once_at_the_next_start(tmp_path: Path) -> None:
    """In their order, also where the transcript has some of them, and the file is gone."""
    root = workspace(tmp_path)
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel("cidGroup==", kind="group")
        await channel.talk.append([Message.user("one", id="m1", speaker="林晓")])
    path = left_in(root)
    async with Pipimem(root, "offline") as pipimem:
        assert not path.exists()
        known = {info.id: (info.kind, info.title) for info in await pipimem.channels()}
    assert said(root, "cidGroup==") == [("m1", "林晓", "one"), ("m2", "林晓", "two")]
    assert said(root, "new/one")[0] == ("p1", "", "my number is 555 0199")
    assert known == {
        "cidGroup==": ("group", "发布群"),
        "cidOther": ("dm", "林晓"),
        "new/one": ("group", "The team"),
    }


@pytest.mark.parametrize("is_stored", [False, True])
def test_what_was_taken_back_does_not_come_back(tmp_path: Path, is_stored: bool) -> None:
    """Neither from the file nor from the transcript; what was said beside it stays."""
    root = workspace(tmp_path)
    if is_stored:
        store = ChannelStore.open(WorkspaceStore.open(root), "cidOther", create=True)
        store.append([Message.user("a surprise", id="m1", speaker="林晓")])
    left_in(root)
    take_in_arrivals(WorkspaceStore.open(root), MORNING)
    assert said(root, "cidOther") == [("m1", "林晓", ""), ("m3", "林晓", "lunch?")]
    held = [path for path in root.rglob("*") if path.is_file() and b"surprise" in path.read_bytes()]
    assert held == []


def test_what_the_disk_refuses_stays_for_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log quotes nobody."""
    root = workspace(tmp_path)
    path, real = left_in(root), ChannelStore.append

    def refuse(store: ChannelStore, messages: object) -> tuple[Message, ...]:
        if store.channel_id == "cidOther":
            raise StoreError("no space left on device")
        return real(store, messages)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr(ChannelStore, "append", refuse)
        take_in_arrivals(WorkspaceStore.open(root), MORNING)
    assert path.exists()
    assert "not all stored yet: no space left on device" in caplog.text
    assert "lunch" not in caplog.text
    take_in_arrivals(WorkspaceStore.open(root), MORNING)
    assert not path.exists()
    assert [len(said(root, name)) for name in ("cidGroup==", "cidOther", "new/one")] == [2, 2, 2]


def test_what_an_older_bot_is_about_to_store_is_left_to_it(tmp_path: Path) -> None:
    """It holds the lock of the one bot of a workspace."""
    root = workspace(tmp_path)
    path = left_in(root)
    with process_lock(root, "dingtalk", "A bot runs"):
        take_in_arrivals(WorkspaceStore.open(root), MORNING)
        with (
            pytest.raises(WorkspaceError, match="A bot runs on"),
            process_lock(root, "dingtalk", "A bot runs"),
        ):
            pass
    assert path.exists()
    take_in_arrivals(WorkspaceStore.open(root), MORNING)
    assert not path.exists()


def test_a_torn_line_and_blanks_count_for_nothing(tmp_path: Path) -> None:
    """A crash tears a line; a forgetting of 0.2 left blanks."""
    root = workspace(tmp_path)
    path = left_in(root)
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"    \n" + whole[0] + whole[1][:90] + b"\n" + json_lines.line({"x": 1}))
    take_in_arrivals(WorkspaceStore.open(root), MORNING)
    assert said(root, "cidGroup==") == [("m1", "林晓", "one")]
    assert not path.exists()
