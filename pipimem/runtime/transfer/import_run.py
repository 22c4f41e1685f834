"""An import under way: what was found for each channel, written in as it would be said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import ArchiveError
from pipimem.notes.kinds import File
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision, Operation, Progress
from pipimem.runtime.intake import Intake
from pipimem.runtime.transfer.found import (
    Found,
    FoundDay,
    FoundEntry,
    FoundMessage,
    Skipped,
    SourceFormat,
)
from pipimem.runtime.transfer.gathering import Gathering, ImportCounts, Spool, SpoolFile
from pipimem.runtime.transfer.limits import ImportLimits
from pipimem.runtime.transfer.source_files import SourceFiles
from pipimem.settings import Settings, settings_from
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.disk.syscalls import make_folder
from pipimem.store.history.undo import UNDO
from pipimem.store.transcript.log import KnownIds
from pipimem.store.transfer.import_log import (
    IMPORT,
    ImportedChannel,
    ImportLog,
    ImportRecord,
    content_mark,
    key_mark,
)
from pipimem.store.transfer.manifest import CHANNELS
from pipimem.store.transfer.moving_in import incoming, is_there, move_in
from pipimem.store.workspace import WorkspaceStore


class ImportOptions(Struct, frozen=True):
    """How to import: everything into one `channel`, or each where the source says.

    A new channel is of `kind`. A dry run writes nothing. With `consolidates` the talk is left to be
    consolidated; otherwise it counts as talk from before that is only searched and quoted.
    """

    channel: str = ""
    kind: Literal["dm", "group"] = "dm"
    is_dry: bool = False
    consolidates: bool = False


@dataclass(slots=True)
class ImportTarget:
    """One channel that something is found for; `staged` where it is new, and made ready aside.

    `unfinished` is what an import of the same kind left that was killed in it.
    """

    name: str
    gathering: Gathering
    staged: ChannelStore | None
    standing: ChannelStore | None
    unfinished: ImportedChannel | None = None


@dataclass(slots=True)
class ImportRun:
    """What is found is taken to its channel; `ready` is where new ones are made.

    In a dry run there is no such place, and no `file` of messages.
    """

    workspace: WorkspaceStore
    source_format: SourceFormat
    options: ImportOptions
    settings: Settings
    now: datetime
    ready: Path | None
    # Where messages are kept until all are read; none in a dry run.
    file: SpoolFile | None
    targets: dict[str, ImportTarget] = field(default_factory=dict)
    total: ImportCounts = field(default_factory=ImportCounts)
    limits: ImportLimits = field(default_factory=ImportLimits)

    def take(self, one: Found) -> None:
        """Takes what is found to its channel.

        Raises `ArchiveError` for more than one import takes.
        """
        self.limits.count(one)
        match one:
            case Skipped():
                self.total.leave_out(one)
            case FoundMessage():
                self._target(one.channel).gathering.take_message(one)
            case FoundEntry():
                self._target(one.channel).gathering.take_entry(one)
            case FoundDay():
                self._target(one.channel).gathering.take_day(one)

    def changed(self) -> list[ImportTarget]:
        """The channels for which anything new was found."""
        found = self.targets.values()
        return [one for one in found if one.gathering.has_news or one.unfinished]

    def _target(self, channel: str) -> ImportTarget:
        name = self.options.channel or channel or self.source_format.name
        if name not in self.targets:
            self.targets[name] = self._opened(name)
        return self.targets[name]

    def _opened(self, name: str) -> ImportTarget:
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
            said = standing.transcript.messages()
            gathering.known_ids = KnownIds(message.id for message in said)
            gathering.known_texts = set(_texts(standing))
            _look_at_earlier(standing, gathering)
        if self.file is not None:
            gathering.spool = Spool(self.file)
        unfinished = self._unfinished(name) if standing else None
        return ImportTarget(name, gathering, staged, standing, unfinished)

    def _unfinished(self, name: str) -> ImportedChannel | None:
        """What an import of this kind that was killed had begun to add to a channel."""
        records = [one for one in self.log.standing() if one.kind == self.source_format.name]
        for record in reversed(records):
            for channel in record.channels:
                if channel.id == name:
                    return None if channel.is_done else channel
        return None

    @property
    def log(self) -> ImportLog:
        """The imports of the workspace."""
        return ImportLog(self.workspace.root / ".pipimem")

    def is_own(self, message: Message) -> bool:
        """Whether a message came with an import of this kind."""
        return message.id.startswith(f"{self.source_format.name}:")


def _look_at_earlier(store: ChannelStore, gathering: Gathering) -> None:
    """Tells what earlier imports brought, and what was taken out of this memory.

    What an import brought that stands is known, though people have reworded it or taken it out;
    what one brought that was taken back may come again.
    """
    brought: dict[int, set[str]] = {}
    for record in store.changes():
        if record.task == IMPORT:
            names = (name for name, known in record.delta.records.items() if known)
            brought[record.sequence] = {name.rpartition(":")[2] for name in names}
        elif record.task == UNDO and record.correlation.isdecimal():
            taken_back = brought.pop(int(record.correlation), set())
            gathering.may_come_again |= taken_back
    for standing in brought.values():
        gathering.known_texts |= standing
        gathering.may_come_again -= standing
    gathering.taken_out = store.ledger.tombstones


def _texts(store: ChannelStore) -> Iterator[str]:
    """The ids of all that the notes and the archive say."""
    notes = store.notes()
    for file in (File.MEMORY, File.HISTORY):
        yield from (entry.id for entry in notes.note(file).entries)
    yield from (entry.id for entry in store.archive().entries)


# So many messages are appended with one sync.
_BATCH = 2_000


def write_import(run: ImportRun, ready: Path) -> int:
    """Writes what was gathered; returns the number of the import, 0 where nothing was new."""
    changed = run.changed()
    if not changed:
        return 0
    for target in changed:
        target.gathering.drop_ids()
    new = [target for target in changed if target.staged is not None]
    line = _WrittenLine(run, [_fill(run, target) for target in new])
    line.note()
    move_in(run.workspace, ready, [folder_name(target.name) for target in new])
    for target in changed:
        # A line for each step: where it is killed, what came can be taken back.
        for step in _add_to(run, target):
            line.note(step)
    return line.number


class _WrittenLine:
    """The line of an import in the log, written again with each step."""

    def __init__(self, run: ImportRun, done: list[ImportedChannel]) -> None:
        self._log = run.log
        self.number = self._log.next_number()
        self._run = run
        self._done = {one.id: one for one in done}

    def note(self, step: ImportedChannel | None = None) -> None:
        if step is not None:
            self._done[step.id] = step
        kind, channels = self._run.source_format.name, tuple(self._done.values())
        when = self._run.now.isoformat()
        self._log.add(ImportRecord(self.number, when, kind, channels))


def _fill(run: ImportRun, target: ImportTarget) -> ImportedChannel:
    """Writes all of a new channel where it is made ready."""
    store = target.staged
    assert store is not None
    for batch in _batches(target.gathering):
        store.append(batch)
    last = store.transcript.last_number
    records = _commit(run, target.gathering, store, last)
    store.close()
    key, mark = key_mark(store.folder), content_mark(store.folder)
    return ImportedChannel(target.name, key, True, mark, last=last, records=records, is_done=True)


def _add_to(run: ImportRun, target: ImportTarget) -> Iterator[ImportedChannel]:
    """Adds to a channel that is there; yields what is its own before the first step and at the end.

    Where it is killed between, its messages are known by their ids.
    """
    store = target.standing
    if store is None:
        return
    store.record_edits(run.now)
    first = store.transcript.last_number + 1
    key, before = key_mark(store.folder), store.ledger.sequence
    begun = ImportedChannel(target.name, key, first=first, before=before)
    yield begun
    last = 0
    for batch in _batches(target.gathering):
        added = store.append(batch)
        last = added[-1].number if added else last
    # Where somebody spoke meanwhile, the cursor stays: nothing of theirs may be passed over.
    is_alone = all(map(run.is_own, store.transcript.window(store.ledger.cursor)))
    newest = store.transcript.last_number if last or target.unfinished else 0
    records = _commit(run, target.gathering, store, newest if is_alone else 0)
    store.close()
    yield replace(begun, last=last, records=records, is_done=True)


def _batches(gathering: Gathering) -> Iterator[list[Message]]:
    if gathering.spool is not None:
        messages = gathering.spool.messages()
        while batch := list(islice(messages, _BATCH)):
            yield batch


def _commit(
    run: ImportRun, gathering: Gathering, store: ChannelStore, last: int
) -> tuple[int, ...]:
    """Commits entries and days, and that the talk up to a message is none to learn from.

    Returns the number of the record, where it changed the notes.
    """
    progress = Progress()
    if last and not run.options.consolidates:
        progress = Progress(cursor=last, boundary=last, refreshed=last, epoch_start=last)
    kind = run.source_format.name
    blocks = sorted(gathering.blocks, key=lambda one: one.start)
    operations: tuple[Operation, ...] = (*gathering.additions, *blocks)
    decision = Decision(
        IMPORT, Author.PERSON, operations, progress, f"from {kind}", speakers=gathering.speakers
    )
    done = store.commit(decision, run.now, actor=kind)
    for refusal in done.outcome.refused:
        gathering.refuse(refusal.operation, refusal.reason)
    return (done.sequence,) if done.outcome.texts else ()


class ImportReport(Struct, frozen=True):
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
