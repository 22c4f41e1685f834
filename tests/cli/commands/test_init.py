"""`pipimem init`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.notes import Note
from pipimem.runtime import embeddings
from pipimem.text.characters import is_chinese

from tests.cli.conftest import Call, snapshot


def test_init_makes_a_workspace_from_the_template(call: Call, tmp_path: Path) -> None:
    """The files of people, and the folder of the channels."""
    told = call("init", str(tmp_path / "new"))
    assert told.code == 0
    assert {path.name for path in (tmp_path / "new").iterdir()} >= {
        "SOUL.md",
        "AGENTS.md",
        "pipimem.toml",
        "channels",
    }
    assert "SOUL.md" in told.out


def test_init_recommends_an_embedder_that_is_missing(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, in a sentence; where it is installed there is nothing to recommend."""
    for is_missing in (True, False):
        monkeypatch.setattr(embeddings, "_is_installed", lambda _, gone=is_missing: not gone)
        told = call("init", str(tmp_path / f"new-{is_missing}"))
        assert told.err.count("pip install 'pipimem[embeddings]'") == int(is_missing)


def test_init_in_chinese_writes_the_same_files_in_chinese(call: Call, tmp_path: Path) -> None:
    """`--language zh`: what people read and the bot is told; no word of it is memory."""
    names = {}
    for language in ("en", "zh"):
        root = tmp_path / language
        assert call("init", str(root), "--language", language).code == 0
        names[language] = {path.name for path in root.iterdir()}
    assert names["zh"] == names["en"]
    files = [path for path in (tmp_path / "zh").iterdir() if path.is_file()]
    assert all(is_chinese(path.read_text(encoding="utf-8")) for path in files)
    memory = Note.read(File.MEMORY, (tmp_path / "zh" / "MEMORY.md").read_text("utf-8"), b"key")
    assert memory.entries == ()


def test_init_never_overwrites(call: Call, bot: Path) -> None:
    """A second time says so and changes nothing, whatever people wrote."""
    (bot / "SOUL.md").write_text("I am Pipi.\n")
    before = snapshot(bot)
    told = call("init", str(bot))
    assert (told.code, "nothing was changed" in told.out) == (0, True)
    assert snapshot(bot) == before


def test_init_without_a_folder_takes_the_chosen_workspace(call: Call, tmp_path: Path) -> None:
    """`pipimem --workspace DIR init`, with what was made for scripts."""
    told = call("init", "--json", workspace=tmp_path / "chosen").object
    assert told["workspace"] == str(tmp_path / "chosen")
    assert str(tmp_path / "chosen" / "SOUL.md") in told["created"]  # type: ignore[operator]


def test_init_on_a_file_says_what_to_do(call: Call, conversation: Path) -> None:
    """A file is no folder."""
    told = call("init", str(conversation))
    assert (told.code, told.err) == (
        1,
        f"pipimem: {conversation} is a file. Name a folder for the workspace.\n",
    )
