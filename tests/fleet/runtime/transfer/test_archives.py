"""Archives, and workspaces of an older version, in a fleet."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.faults.journeys import NOW, adding, opened
from pipimem.notes.kinds import File
from pipimem.runtime.transfer.archives import export_archive, import_archive
from pipimem.settings import FleetSettings
from pipimem.state.postgres import FleetDatabase
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

OLD = Path(__file__).parents[3] / "fixtures" / "workspace-0.2" / "workspace"


def test_an_archive_has_the_state_that_is_in_the_database(root: Path, tmp_path: Path) -> None:
    """One host that imports it can look back at each change."""
    store = opened(root)
    store.commit(adding("learnt among several hosts"), NOW)
    store.commit(adding("and something else"), NOW)
    archive = tmp_path / "room.zip"
    export_archive(store.workspace, ["team"], archive, NOW, "0.3.0")
    alone = tmp_path / "alone"
    WorkspaceStore.init(alone)
    import_archive(WorkspaceStore.open(alone), archive, NOW)
    moved = opened(alone)
    assert [change.sequence for change in moved.changes()] == [1, 2]
    first = moved.changes()[0].files[File.MEMORY]
    assert "learnt among several hosts" in (moved.text_of(first.after) or "")


def test_what_one_host_exported_goes_on_in_a_fleet(root: Path, tmp_path: Path) -> None:
    """The first commit takes the state over, into the database."""
    alone = tmp_path / "alone"
    WorkspaceStore.init(alone)
    opened(alone).commit(adding("learnt on one host"), NOW)
    archive = tmp_path / "room.zip"
    export_archive(WorkspaceStore.open(alone), ["team"], archive, NOW, "0.3.0")
    import_archive(WorkspaceStore.open(root), archive, NOW)
    store = opened(root)
    store.commit(adding("learnt among several"), NOW)
    assert [change.sequence for change in opened(root).changes()] == [1, 2]
    assert not (store.folder / ".pipimem" / "state.db").exists()


def test_a_workspace_of_an_older_version_goes_on_in_a_fleet(
    tmp_path: Path, settings: FleetSettings, database: FleetDatabase
) -> None:
    """Its journal is read before, and taken over by the first commit, once."""
    root = tmp_path / "old"
    shutil.copytree(OLD, root)
    text = f'[fleet]\ndatabase = "{settings.database}"\nlease_seconds = 1\n'
    (root / "pipimem.toml").write_text(text)

    def alice() -> ChannelStore:
        return ChannelStore.open(WorkspaceStore.open(root), "alice", create=True)

    before = [change.sequence for change in alice().changes()]
    alice().commit(adding("learnt among several"), NOW)
    after = [change.sequence for change in alice().changes()]
    assert set(before) < set(after)
    assert after == sorted(after)
    assert "learnt among several" in alice().notes().memory.text
    assert database.rows("select count(*) from pipimem_rows.change") == [(len(after),)]
