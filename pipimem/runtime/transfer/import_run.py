"""An import under way: which channels something was found for, and what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from pipimem.notes.kinds import File
from pipimem.notes.message import Message
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
from pipimem.runtime.transfer.limits import ImportLimits
from pipimem.runtime.transfer.spool import Spool, SpoolFile
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_names import folder_name
from pipimem.store.history.undo import UNDO
from pipimem.store.transcript.log import KnownIds
from pipimem.store.transfer.import_log import IMPORT, ImportedChannel, ImportLog
from pipimem.store.transfer.moving_in import is_there
from pipimem.store.workspace import WorkspaceStore


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
            case LeftOut():
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
    for record in store.journal_records():
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
