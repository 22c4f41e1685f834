"""An import from another program: read as a whole first, then written channel by channel."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.found import SourceFormat
from pipimem.runtime.transfer.gathering import ImportCounts
from pipimem.runtime.transfer.import_run import ImportOptions, ImportRun
from pipimem.runtime.transfer.source_files import SourceFiles
from pipimem.runtime.transfer.spool import SpoolFile
from pipimem.runtime.transfer.writing_in import write_import
from pipimem.settings import settings_from
from pipimem.store.disk.syscalls import make_folder
from pipimem.store.transfer.manifest import CHANNELS
from pipimem.store.transfer.moving_in import incoming
from pipimem.store.workspace import WorkspaceStore

__all__ = ["ImportOptions", "ImportReport", "import_source"]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came in, or would: the kind of source, the counts by channel, and all together.

    `number` is that of the import, 0 where nothing was written.
    """

    kind: str
    by_channel: dict[str, ImportCounts]
    total: ImportCounts
    number: int = 0


def import_source(
    workspace: WorkspaceStore,
    files: SourceFiles,
    source_format: SourceFormat,
    options: ImportOptions,
    now: datetime,
) -> ImportReport:
    """Takes in what another program kept.

    All of it is read and cleaned first. Then new channels are moved in whole, and others are added
    to; the same source again adds nothing. Raises `ArchiveError`, with nothing written, for a
    source that is broken, and for talk into a channel whose own talk is not consolidated yet.
    """
    settings = settings_from(workspace.human_text("pipimem.toml"))
    place = nullcontext(None) if options.is_dry else incoming(workspace)
    with place as ready, _spool_file(ready) as file:
        run = ImportRun(workspace, source_format, options, settings, now, ready, file)
        for one in source_format.read(files):
            run.take(one)
        _refuse_backlog(run)
        number = write_import(run, ready) if ready is not None else 0
    by_channel = {name: target.gathering.counts for name, target in run.targets.items()}
    for counts in by_channel.values():
        run.total.add(counts)
    return ImportReport(source_format.name, by_channel, run.total, number)


def _spool_file(ready: Path | None) -> SpoolFile | nullcontext[None]:
    if ready is None:
        return nullcontext(None)
    make_folder(ready / CHANNELS)
    return SpoolFile(ready / "spool.jsonl")


def _refuse_backlog(run: ImportRun) -> None:
    for target in run.targets.values():
        store, counts = target.standing, target.gathering.counts
        if store is None or not counts.messages or run.options.consolidates:
            continue
        waiting = store.transcript.last_number - store.ledger.cursor
        if waiting > 0 and target.unfinished:
            said = store.transcript.window(store.ledger.cursor)
            waiting = sum(1 for message in said if not run.is_own(message))
        if waiting > 0:
            raise ArchiveError(
                f"{target.name} has {waiting:,} messages of its own that are not consolidated, so "
                f"talk cannot be put behind them unread; nothing was written. Run `pipimem "
                f"consolidate {target.name}` first, import with --consolidate, or into another "
                "channel."
            )
