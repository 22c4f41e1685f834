"""An export or an import killed at any instant: each channel is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision, Progress
from pipimem.runtime.transfer import writing_in
from pipimem.runtime.transfer.archives import export_archive, import_archive
from pipimem.runtime.transfer.recognising import format_of
from pipimem.runtime.transfer.source_files import opened_source
from pipimem.runtime.transfer.take_back import take_back
from pipimem.runtime.transfer.taking_in import ImportOptions, import_source
from pipimem.store.channel import ChannelStore
from pipimem.store.transfer.import_log import ImportLog
from pipimem.store.workspace import WorkspaceStore

from tests.faults.test_crashes import facts, in_child, killing, prepared
from tests.runtime.transfer.test_archives import filled, tree, workspace


@pytest.mark.parametrize("torn", [False, True])
def test_an_import_killed_anywhere_leaves_whole_channels(
    tmp_path: Path, now: datetime, torn: bool
) -> None:
    """The same command again brings what is missing, and leaves nothing half done behind."""
    made = filled(tmp_path / "a")
    archive = tmp_path / "x.zip"
    export_archive(made, (), archive, now, "0.2.0")
    before = tree(made.root)
    seen = set()
    finished = False
    for at in range(1, 400):
        other = workspace(tmp_path / f"b{at}")

        def work(other: WorkspaceStore = other, at: int = at) -> None:
            killing(at, torn=torn)
            import_archive(other, archive, now)

        finished = in_child(work)
        after = tree(other.root)
        channels = {name.split("/")[0] for name in after}
        assert after == {n: data for n, data in before.items() if n.split("/")[0] in channels}
        seen.add(len(channels))
        import_archive(other, archive, now)
        assert tree(other.root) == before
        assert not (other.root / ".pipimem" / "incoming").exists()
        if finished:
            break
    assert finished
    assert seen == {0, 1, 2}


def test_an_export_killed_anywhere_leaves_a_whole_archive_or_none(
    tmp_path: Path, now: datetime
) -> None:
    """And the next one is made as if nothing had happened."""
    finished = False
    for at in range(1, 400):
        made, archive = filled(tmp_path / f"a{at}"), tmp_path / f"{at}.zip"

        def work(made: WorkspaceStore = made, archive: Path = archive, at: int = at) -> None:
            killing(at, torn=False)
            export_archive(made, (), archive, now, "0.2.0")

        finished = in_child(work)
        if not archive.exists():
            assert not finished
            export_archive(made, (), archive, now, "0.2.0")
        other = workspace(tmp_path / f"b{at}")
        import_archive(other, archive, now)
        assert tree(other.root) == tree(made.root)
        if finished:
            break
    assert finished


def test_what_a_killed_commit_left_is_carried_out_before_it_is_packed(
    tmp_path: Path, now: datetime, add: Callable[..., Decision]
) -> None:
    """The archive has no text that waits beside its file, and says what the workspace says."""
    finished = False
    for at in range(1, 200):
        root = tmp_path / f"a{at}"
        decision = prepared(root, now, add)

        def work(root: Path = root, decision: Decision = decision, at: int = at) -> None:
            channel = ChannelStore.open(WorkspaceStore.open(root), "team", create=False)
            killing(at, torn=False)
            channel.commit(decision, now)

        finished = in_child(work)
        said = facts(root)
        export_archive(WorkspaceStore.open(root), (), tmp_path / f"{at}.zip", now, "0.2.0")
        other = workspace(tmp_path / f"b{at}")
        import_archive(other, tmp_path / f"{at}.zip", now)
        assert facts(other.root) == facts(root)
        assert facts(root)[:3] == said[:3]
        assert not list((other.root / "channels").rglob("*tmp*"))
        if finished:
            break
    assert finished


def test_an_import_from_another_program_killed_anywhere_is_whole_or_goes_on(
    tmp_path: Path, now: datetime
) -> None:
    """A new channel is there whole or not at all; what a killed one added to a channel in use is
    taken back, or completed by the same command.
    """
    source = tmp_path / "oc"
    (source / "memory").mkdir(parents=True)
    (source / "MEMORY.md").write_text("- likes tea\n- lives in Porto\n")
    (source / "memory" / "2026-03-02.md").write_text("- lunch with Bob\n")
    talk = tmp_path / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "one"}\n{"role": "user", "content": "two"}\n')

    def both(root: Path) -> None:
        made = WorkspaceStore.open(root)
        for path, options in ((source, ImportOptions()), (talk, ImportOptions("team"))):
            with opened_source(path) as files:
                import_source(made, files, format_of(files), options, now)

    def said(root: Path) -> tuple[list[str], list[str]]:
        made = WorkspaceStore.open(root)
        team = ChannelStore.open(made, "team", create=False)
        folder = made.folder_of("openclaw")
        texts = [(folder / name).read_text() for name in ("MEMORY.md", "HISTORY.md")] if (
            folder.exists()
        ) else []  # fmt: skip
        return [message.content for message in team.transcript.messages()], texts

    def fresh(name: str) -> Path:
        team = ChannelStore.open(workspace(tmp_path / name), "team", create=True)
        team.append([Message.user("own", id="o1", time=now)])
        team.commit(Decision("x", Author.RULE, progress=Progress(cursor=1)), now)
        return tmp_path / name

    whole = fresh("whole")
    both(whole)
    talked, texts = said(whole)
    assert talked == ["own", "one", "two"]
    finished = False
    for at in range(1, 600):
        root = fresh(f"{at}")

        def work(root: Path = root, at: int = at) -> None:
            writing_in._BATCH = 1
            killing(at, torn=False)
            both(root)

        finished = in_child(work)
        after = said(root)
        assert after[0] == talked[: len(after[0])]
        assert after[1] in ([], texts)
        both(root)
        assert said(root) == (talked, texts)
        made = WorkspaceStore.open(root)
        assert ChannelStore.open(made, "team", create=False).ledger.cursor == 3
        for record in ImportLog(root / ".pipimem").standing():
            assert take_back(made, record, now).kept == ()
        assert said(root) == (["own"], [])
        if finished:
            break
    assert finished
