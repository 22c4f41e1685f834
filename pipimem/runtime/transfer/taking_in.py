"""An import from another program: read as a whole first, then written channel by channel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from pipimem.errors import ArchiveError
from pipimem.notes.files import File
from pipimem.notes.message import Message
from pipimem.notes.notes import Note
from pipimem.notes.operations import Author, Decision, Operation, Progress
from pipimem.runtime.intake import Intake
from pipimem.runtime.transfer.found import (
    Found,
    FoundDay,
    FoundEntry,
    FoundMessage,
    LeftOut,
    SourceFormat,
)
from pipimem.runtime.transfer.gathering import Gathering, ImportCounts
from pipimem.runtime.transfer.source_files import SourceFiles
from pipimem.runtime.transfer.spool import Spool
from pipimem.runtime.transfer.take_back import TASK
from pipimem.settings import Settings, settings_from
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.disk.syscalls import make_folder
from pipimem.store.transfer.import_log import (
    ImportedChannel,
    ImportLog,
    ImportRecord,
    content_mark,
)
from pipimem.store.transfer.manifest import CHANNELS
from pipimem.store.transfer.moving_in import incoming, is_there, move_in
from pipimem.store.workspace import WorkspaceStore

# So many messages are appended with one sync.
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How to import: everything into one `channel`, or each where the source says.

    A new channel is of `kind`. A dry run writes nothing. With `consolidates` the talk is left to be
    consolidated; otherwise it counts as talk from before that is only searched and quoted.
    """

    channel: str = ""
    kind: Literal["dm", "group"] = "dm"
    is_dry: bool = False
    consolidates: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came in, or would: the kind of source, the counts by channel, and all together.

    `number` is that of the import, 0 where nothing was written.
    """

    kind: str
    by_channel: dict[str, ImportCounts]
    total: ImportCounts
    number: int = 0


@dataclass(slots=True)
class _Target:
    """One channel that something is found for; `staged` where it is new, and made ready aside."""

    name: str
    gathering: Gathering
    staged: ChannelStore | None
    standing: ChannelStore | None


@dataclass(slots=True)
class _Import:
    workspace: WorkspaceStore
    source_format: SourceFormat
    options: ImportOptions
    settings: Settings
    now: datetime
    ready: Path | None
    closing: ExitStack
    targets: dict[str, _Target] = field(default_factory=dict)
    total: ImportCounts = field(default_factory=ImportCounts)

    def take(self, one: Found) -> None:
        """Takes what is found to its channel."""
        match one:
            case LeftOut():
                self.total.leave_out(one)
            case FoundMessage():
                self._target(one.channel).gathering.take_message(one)
            case FoundEntry():
                self._target(one.channel).gathering.take_entry(one)
            case FoundDay():
                self._target(one.channel).gathering.take_day(one)

    def changed(self) -> list[_Target]:
        """The channels for which anything new was found."""
        return [one for one in self.targets.values() if _has_news(one.gathering)]

    def _target(self, channel: str) -> _Target:
        name = self.options.channel or channel or self.source_format.name
        if name not in self.targets:
            self.targets[name] = self._opened(name)
        return self.targets[name]

    def _opened(self, name: str) -> _Target:
        standing = staged = None
        if is_there(self.workspace, folder_name(name)):
            standing = ChannelStore.open(self.workspace, name, create=False)
        elif self.ready is not None:
            aside = WorkspaceStore(self.ready)
            kind = "group" if self.source_format.is_group(name) else self.options.kind
            staged = ChannelStore.open(aside, name, create=True, kind=kind)
        store = standing or staged
        key = store.key if store else b""
        intake = Intake(self.settings.private, key, self.settings.secrets)
        gathering = Gathering(self.source_format.name, key, intake, self.now)
        if standing is not None:
            gathering.known_ids = {message.id for message in standing.transcript.messages()}
            gathering.known_texts = set(_texts(standing))
        if self.ready is not None:
            spool = Spool(self.ready / f"spool-{len(self.targets)}.jsonl")
            gathering.spool = self.closing.enter_context(spool)
        return _Target(name, gathering, staged, standing)


def _texts(store: ChannelStore) -> Iterator[str]:
    """The ids of all that the notes and the archive say."""
    notes = store.notes()
    for file in (File.MEMORY, File.HISTORY):
        yield from (entry.id for entry in notes.note(file).entries)
    archive = Note.read(File.ARCHIVE, store.archive_text(), store.key)
    yield from (entry.id for entry in archive.entries)


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
    with place as ready, ExitStack() as closing:
        if ready is not None:
            make_folder(ready / CHANNELS)
        run = _Import(workspace, source_format, options, settings, now, ready, closing)
        for one in source_format.read(files):
            run.take(one)
        by_channel = {name: target.gathering.counts for name, target in run.targets.items()}
        for counts in by_channel.values():
            run.total.add(counts)
        _refuse_backlog(run)
        number = _written(run, files.path.name, ready) if ready is not None else 0
    return ImportReport(source_format.name, by_channel, run.total, number)


def _refuse_backlog(run: _Import) -> None:
    for target in run.targets.values():
        store, counts = target.standing, target.gathering.counts
        if store is None or not counts.messages or run.options.consolidates:
            continue
        waiting = store.transcript.last_number - store.ledger.cursor
        if waiting > 0:
            raise ArchiveError(
                f"{target.name} has {waiting:,} messages of its own that are not consolidated, so "
                f"talk cannot be put behind them unread; nothing was written. Run `pipimem "
                f"consolidate {target.name}` first, import with --consolidate, or into another "
                "channel."
            )


def _written(run: _Import, source: str, ready: Path) -> int:
    """Writes what was gathered; returns the number of the import, 0 where nothing was new."""
    changed = run.changed()
    if not changed:
        return 0
    new = [target for target in changed if target.staged is not None]
    written = _Written(run, source, [_filled(run, target) for target in new])
    written.note()
    move_in(run.workspace, ready, [folder_name(target.name) for target in new])
    for target in changed:
        # A line for each step: where it is killed, what came can be taken back.
        for step in _added(run, target):
            written.note(step)
    return written.number


class _Written:
    """The line of an import in the log, written again with each step."""

    def __init__(self, run: _Import, source: str, done: list[ImportedChannel]) -> None:
        self._log = ImportLog(run.workspace.root / ".pipimem")
        self.number = self._log.next_number()
        self._run, self._source = run, source
        self._done = {one.id: one for one in done}

    def note(self, step: ImportedChannel | None = None) -> None:
        if step is not None:
            self._done[step.id] = step
        kind, channels = self._run.source_format.name, tuple(self._done.values())
        when = self._run.now.isoformat()
        self._log.add(ImportRecord(self.number, when, kind, self._source, channels))


def _has_news(gathering: Gathering) -> bool:
    return bool(gathering.counts.messages) or gathering.has_notes


def _filled(run: _Import, target: _Target) -> ImportedChannel:
    """Writes all of a new channel where it is made ready."""
    store = target.staged
    assert store is not None
    for batch in _batches(target.gathering):
        store.append(batch)
    last = store.transcript.last_number
    records = _commit(run, target.gathering, store, last)
    store.close()
    mark = content_mark(store.folder)
    return ImportedChannel(target.name, True, mark, last=last, records=records, is_done=True)


def _added(run: _Import, target: _Target) -> Iterator[ImportedChannel]:
    """Adds to a channel that is there; yields what is its own before the first step and at the end.

    Where it is killed between, its messages are known by their ids.
    """
    store = target.standing
    if store is None:
        return
    store.journal_edits(run.now)
    first = store.transcript.last_number + 1
    begun = ImportedChannel(target.name, first=first, before=store.ledger.sequence)
    yield begun
    numbers: list[int] = []
    for batch in _batches(target.gathering):
        numbers += [message.number for message in store.append(batch)]
    # Where somebody spoke meanwhile, the cursor stays: nothing of theirs may be passed over.
    begins = store.ledger.cursor + 1
    is_alone = numbers == list(range(begins, begins + len(numbers)))
    last = numbers[-1] if numbers else 0
    records = _commit(run, target.gathering, store, last if is_alone else 0)
    store.close()
    yield replace(begun, last=last, records=records, is_done=True)


def _batches(gathering: Gathering) -> Iterator[list[Message]]:
    if gathering.spool is not None:
        messages = gathering.spool.messages()
        while batch := list(islice(messages, _BATCH)):
            yield batch


def _commit(run: _Import, gathering: Gathering, store: ChannelStore, last: int) -> tuple[int, ...]:
    """Commits entries and days, and that the talk up to a message is none to learn from.

    Returns the number of the record, where it changed the notes.
    """
    progress = Progress()
    if last and not run.options.consolidates and gathering.counts.messages:
        progress = Progress(cursor=last, boundary=last, refreshed=last, epoch_start=last)
    kind = run.source_format.name
    blocks = sorted(gathering.blocks, key=lambda one: one.start)
    operations: tuple[Operation, ...] = (*gathering.additions, *blocks)
    decision = Decision(
        TASK, Author.PERSON, operations, progress, f"from {kind}", speakers=gathering.speakers
    )
    done = store.commit(decision, run.now, actor=kind)
    return (done.sequence,) if done.outcome.texts else ()
