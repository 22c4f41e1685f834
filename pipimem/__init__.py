"""pipimem gives a chat-bot agent a memory that people can open in an editor.

The names of daily use are here. All others are in `pipimem.errors`, `pipimem.settings`,
`pipimem.results` (types of answers, to annotate with), `pipimem.assistant` (to write an assistant),
`pipimem.observer`, `pipimem.logs` and `pipimem.testing`.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipimem.clock import Clock as Clock
    from pipimem.errors import ArgumentError as ArgumentError
    from pipimem.errors import BudgetSpent as BudgetSpent
    from pipimem.errors import NothingFound as NothingFound
    from pipimem.errors import PipimemError as PipimemError
    from pipimem.errors import SidecarError as SidecarError
    from pipimem.errors import StoreError as StoreError
    from pipimem.llm.embedding import Embedder as Embedder
    from pipimem.notes.kinds import File as File
    from pipimem.notes.kinds import Kind as Kind
    from pipimem.notes.message import Message as Message
    from pipimem.notes.operations import Author as Author
    from pipimem.notes.operations import Change as Change
    from pipimem.notes.operations import Trust as Trust
    from pipimem.observer import Observer as Observer
    from pipimem.observer import Operation as Operation
    from pipimem.recall.items import Candidate as Candidate
    from pipimem.recall.items import Item as Item
    from pipimem.recall.items import Source as Source
    from pipimem.recall.recall import Recall as Recall
    from pipimem.runtime.channel import Channel as Channel
    from pipimem.runtime.forgetting import By as By
    from pipimem.runtime.forgetting import ById as ById
    from pipimem.runtime.forgetting import Text as Text
    from pipimem.runtime.history import ChannelHistory as ChannelHistory
    from pipimem.runtime.note_view import ListedEntry as ListedEntry
    from pipimem.runtime.notes import ChannelNotes as ChannelNotes
    from pipimem.runtime.pipimem import Pipimem as Pipimem
    from pipimem.runtime.search_service import SearchHit as SearchHit
    from pipimem.runtime.talk import ChannelTalk as ChannelTalk
    from pipimem.runtime.tools.calls import ToolResult as ToolResult
    from pipimem.runtime.transcript_recall import Visible as Visible
    from pipimem.runtime.turns import Receipt as Receipt
    from pipimem.runtime.turns import Turn as Turn
    from pipimem.settings import Settings as Settings

__version__ = "0.3.0"

# By module: a name is imported when it is first used.
_NAMES = {
    "pipimem.clock": "Clock",
    "pipimem.errors": "ArgumentError BudgetSpent NothingFound PipimemError SidecarError StoreError",
    "pipimem.llm.embedding": "Embedder",
    "pipimem.notes.kinds": "File Kind",
    "pipimem.notes.message": "Message",
    "pipimem.notes.operations": "Author Change Trust",
    "pipimem.observer": "Observer Operation",
    "pipimem.recall.items": "Candidate Item Source",
    "pipimem.recall.recall": "Recall",
    "pipimem.runtime.channel": "Channel",
    "pipimem.runtime.forgetting": "By ById Text",
    "pipimem.runtime.history": "ChannelHistory",
    "pipimem.runtime.note_view": "ListedEntry",
    "pipimem.runtime.notes": "ChannelNotes",
    "pipimem.runtime.pipimem": "Pipimem",
    "pipimem.runtime.search_service": "SearchHit",
    "pipimem.runtime.talk": "ChannelTalk",
    "pipimem.runtime.tools.calls": "ToolResult",
    "pipimem.runtime.transcript_recall": "Visible",
    "pipimem.runtime.turns": "Receipt Turn",
    "pipimem.settings": "Settings",
}
# What 0.2 offered here, by the module that offers it now; it goes in 0.4.0.
_MOVED = {
    "pipimem.assistant": (
        "Assistant Call Consolidate Consolidated Fold Folded KnownEntry Learned Merge "
        "Refile Refresh Refreshed Rerank Reranked Reword Tidied Tidy"
    ),
    "pipimem.errors": (
        "AnswerRefused ArchiveError CannotTakeBack ChannelError ChannelMoved DatabaseUnavailable "
        "LockLost LockTimeout ModelTimeout ModelUnavailable NoProgress SettingsError "
        "TranscriptError UnreadableNote WorkspaceError"
    ),
    "pipimem.logs": "JsonLogFormatter OperationLog",
    "pipimem.results": (
        "ChannelInfo EditConflict EntryOrigin EntryPlace ForgetPreview LoggedChange MemoryRequest "
        "NoteBlock NoteView Part PrivateCounts Remembered SavedNote TakenBack TranscriptPage "
        "TurnPreview UsageSum"
    ),
    "pipimem.settings": (
        "BudgetSettings CompactionSettings DingTalkSettings EmbedderSettings FleetSettings "
        "GroupSettings MaintenanceSettings ModelSettings ObservabilitySettings PrivateSettings "
        "RecallSettings SecretSettings SnapshotSettings"
    ),
}
# What 0.2 offered here under another name: where the type is, and what it is called now.
_RENAMED = {
    "Bullet": ("pipimem.notes.operations.Bullet", "pipimem.assistant.HistoryItem"),
    "JournalError": ("pipimem.errors.DamagedState", "pipimem.errors.DamagedState"),
    "NoteFiles": ("pipimem.runtime.notes.ChannelNotes", "pipimem.ChannelNotes"),
    "Over": ("pipimem.sidecar.tasks.Outdated", "pipimem.assistant.Outdated"),
    "TranscriptPages": ("pipimem.runtime.talk.ChannelTalk", "pipimem.ChannelTalk"),
}


def _modules_by_name(names_by_module: dict[str, str]) -> dict[str, str]:
    return {name: module for module, names in names_by_module.items() for name in names.split()}


_MODULES, _MOVED_TO = _modules_by_name(_NAMES), _modules_by_name(_MOVED)

__all__ = sorted(_MODULES)

if not TYPE_CHECKING:  # or checkers would accept every name

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used, with a warning if it has moved."""
        new = ""
        if name in _MODULES:
            path = f"{_MODULES[name]}.{name}"
        elif name in _RENAMED:
            path, new = _RENAMED[name]
        elif name in _MOVED_TO:
            path = new = f"{_MOVED_TO[name]}.{name}"
        else:
            raise AttributeError(f"module 'pipimem' has no attribute {name!r}")
        if new:
            warnings.warn(
                f"pipimem.{name} is {new}; the old name works until 0.4.0",
                DeprecationWarning,
                stacklevel=2,
            )
        module, _, attribute = path.rpartition(".")
        value: object = getattr(import_module(module), attribute)
        globals()[name] = value  # so that it warns once
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
