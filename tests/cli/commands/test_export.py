"""`pipimem export`."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.cli.conftest import Call


def test_export_says_what_is_in_the_archive(call: Call, tmp_path: Path) -> None:
    """How many channels and files, and how large it is."""
    call("remember", "room", "The port is 8080")
    told = call("export", "x.zip", "--json").object
    size = (tmp_path / "x.zip").stat().st_size
    assert told == {"archive": "x.zip", "channels": 1, "files": 9, "bytes": size}
    assert call("export", "room", "y.zip").out.startswith("y.zip: 1 channel, 3 files, ")


def test_plain_and_redacted(call: Call, tmp_path: Path) -> None:
    """Markdown alone; both at once is a misuse."""
    call("remember", "room", "The port is 8080")
    assert call("export", "room", "p.zip", "--plain").code == 0
    assert zipfile.ZipFile(tmp_path / "p.zip").namelist() == ["room/MEMORY.md"]
    assert call("export", "r.zip", "--redacted").code == 0
    assert zipfile.ZipFile(tmp_path / "r.zip").namelist() == ["channel-1/MEMORY.md"]
    assert call("export", "b.zip", "--redacted", "--plain").code == 2


def test_an_unknown_channel_is_told(call: Call, tmp_path: Path) -> None:
    """And there is no archive."""
    told = call("export", "nobody", "x.zip")
    assert (told.code, "There is no channel 'nobody'" in told.err) == (1, True)
    assert not (tmp_path / "x.zip").exists()


def test_a_channel_is_moved_out_refused_and_taken_back(call: Call) -> None:
    """`--move` marks it; `--cancel-move` needs the archive once it is whole, and deletes it."""
    call("remember", "room", "The port is 8080")
    assert call("export", "--move", "room", "m.zip").out.startswith("m.zip: 1 channel, 3 files, ")
    told = call("remember", "room", "nothing of this")
    assert (told.code, "was moved to" in told.err) == (1, True)
    assert call("export", "--cancel-move", "room").code == 1
    assert call("export", "--cancel-move", "room", "m.zip").out == "room: it stays here\n"
    assert call("remember", "room", "The host is loki").code == 0
    assert call("export", "--cancel-move", "room").out == "room: it was not being moved\n"
    assert call("export", "--move", "m.zip").code == 2
    assert call("export", "--move", "--plain", "room", "m.zip").code == 2
