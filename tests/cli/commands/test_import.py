"""`pipimem import`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_an_archive_comes_in_and_is_taken_back(call: Call, bot: Path, tmp_path: Path) -> None:
    """In another workspace; a dry run only says so."""
    other = tmp_path / "other"
    call("init", str(other))
    call("remember", "room", "The port is 8080")
    call("export", "x.zip")
    told = call("import", "x.zip", "--dry-run", workspace=other)
    assert told.out == "1 channel would come in, 0 stood there already\n"
    assert not (other / "channels" / "room").exists()
    told = call("import", "x.zip", workspace=other)
    assert told.out == "1 channel came in, 0 stood there already\n"
    assert "`pipimem import --undo 1` takes it back" in told.err
    assert "8080" in call("recall", "room", "which port", workspace=other).out
    told = call("import", "--undo", "--yes", workspace=other)
    assert told.out == "import 1 was taken back:\n  1 channel removed\n"
    assert not (other / "channels" / "room").exists()
    assert (bot / "channels" / "room" / "MEMORY.md").exists()


def test_what_cannot_be_taken_in_is_told_in_a_sentence(call: Call, tmp_path: Path) -> None:
    """No archive, no file, no source, no import to undo."""
    (tmp_path / "x.zip").write_text("PK, but not really")
    told = call("import", "x.zip")
    assert (told.code, told.err.startswith("pipimem: x.zip is damaged or cut short")) == (1, True)
    assert call("import", "nowhere.zip").err == "pipimem: nowhere.zip: No such file or directory\n"
    assert call("import").code == 2
    assert call("import", "--undo", "x").code == 2
    told = call("import", "--undo", "--yes")
    assert told.err == "pipimem: no import of this workspace is left to be taken back\n"
