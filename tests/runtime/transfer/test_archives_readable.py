"""Exports for reading: Markdown alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.runtime.transfer.archives import export_markdown, export_redacted
from pipimem.store.channel import ChannelStore

from tests.runtime.transfer.test_archives import NOW, filled, remembered, workspace


def members(archive: Path) -> dict[str, str]:
    """The texts of an archive by name."""
    with zipfile.ZipFile(archive) as packed:
        return {name: packed.read(name).decode() for name in packed.namelist()}


def test_plain_is_the_markdown_as_it_stands(tmp_path: Path) -> None:
    """The workspace's own too, where no channel was named; nothing that only a program reads."""
    made = filled(tmp_path / "a")
    (made.root / "SOUL.md").write_text("I am Pipi.\n")
    export_markdown(made, (), tmp_path / "x.zip")
    found = members(tmp_path / "x.zip")
    assert set(found) == {
        "SOUL.md", "dm/MEMORY.md", f"{made.folder_of('群/上线').name}/MEMORY.md",
    }  # fmt: skip
    assert found["dm/MEMORY.md"] == (made.folder_of("dm") / "MEMORY.md").read_text()


def test_redacted_has_no_name_of_anybody_who_spoke(tmp_path: Path) -> None:
    """Also inside sentences, quotes and Chinese text; one person is the same everywhere."""
    made = workspace(tmp_path / "a")
    channel = ChannelStore.open(made, "Tom Miller", create=True, title="Tom's room")
    channel.append([Message.user("hi", speaker="Tom Miller"), Message.user("好", speaker="林晓")])
    for text in (
        "Tom likes tea; tomorrow he is away",
        "林晓（2026-03-02）：问Tom要密钥",
        "Ann (2026-03-02): I know Tom Miller",
        "the api key is sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
    ):
        channel.commit(remembered(text), NOW)
    export_redacted(made, (), tmp_path / "x.zip")
    found = members(tmp_path / "x.zip")
    assert set(found) == {"channel-1/MEMORY.md"}
    text = found["channel-1/MEMORY.md"]
    assert "[P1] likes tea; tomorrow he is away" in text
    assert "[P2]（2026-03-02）：问[P1]要密钥" in text
    assert "I know [P1]" in text
    assert not any(name in text for name in ("Tom", "Miller", "林晓", "Ann", "sk-proj"))
