"""An import taken back: what it made goes, what somebody added since stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.errors import NothingFound
from pipimem.runtime.transfer.archives import import_archive
from pipimem.runtime.transfer.take_back import import_to_take_back, take_back
from pipimem.store.channel import ChannelStore

from tests.runtime.transfer.formats.fixtures import FIXTURES
from tests.runtime.transfer.test_archives import NOW, exported, filled, remembered, tree, workspace
from tests.runtime.transfer.test_import_run_taking_in import imported


def test_the_channels_of_an_archive_go_and_may_come_again(tmp_path: Path) -> None:
    """As often as one likes; the newest import is the one that is meant."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    for _ in range(2):
        done = import_archive(other, archive, NOW)
        taken = take_back(other, import_to_take_back(other, None), NOW)
        assert (taken.record.number, set(taken.removed)) == (done.number, set(done.new))
        assert tree(other.root) == {}
    with pytest.raises(NothingFound, match="no import of this workspace is left"):
        import_to_take_back(other, None)


def test_what_was_written_since_stays(tmp_path: Path) -> None:
    """The channel is kept and told, the import still stands."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    import_archive(other, archive, NOW)
    ChannelStore.open(other, "dm", create=False).commit(remembered("new"), NOW)
    taken = take_back(other, import_to_take_back(other, 1), NOW)
    assert (taken.removed, len(taken.kept)) == (("群/上线",), 1)
    assert taken.kept[0].startswith("dm: somebody wrote to it since")
    assert "- new" in (other.folder_of("dm") / "MEMORY.md").read_text()
    assert import_to_take_back(other, None).number == 1


def test_another_channel_that_was_made_under_the_same_name_stays(tmp_path: Path) -> None:
    """Its changes have the same numbers as those of the one that came and was removed."""
    other = workspace(tmp_path / "b")
    imported(other, FIXTURES / "mem0")
    (info,) = other.channels()
    other.remove(info)
    ChannelStore.open(other, "mem0", create=True).commit(remembered("mine"), NOW)
    before = tree(other.root)
    taken = take_back(other, import_to_take_back(other, None), NOW)
    assert (taken.removed, taken.cleaned, tree(other.root)) == ((), (), before)
