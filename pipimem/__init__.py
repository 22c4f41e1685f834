"""pipimem gives a chat-bot agent a memory that people can open in an editor."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipimem.clock import Clock
    from pipimem.errors import (
        AnswerRefused,
        ArchiveError,
        ArgumentError,
        BudgetSpent,
        CannotTakeBack,
        ChannelError,
        ChannelMoved,
        DatabaseUnavailable,
        JournalError,
        LockLost,
        LockTimeout,
        ModelTimeout,
        ModelUnavailable,
        NoProgress,
        NothingFound,
        PipimemError,
        SettingsError,
        SidecarError,
        StoreError,
        TranscriptError,
        UnreadableNote,
        WorkspaceError,
    )
    from pipimem.llm.embedding import Embedder
    from pipimem.memory.requests import MemoryRequest
    from pipimem.notes.kinds import File, Kind
    from pipimem.notes.message import Message
    from pipimem.notes.operations import (
        Author,
        Change,
        Trust,
    )
    from pipimem.observer import (
        Observer,
        Operation,
    )
    from pipimem.recall.items import (
        Candidate,
        Item,
        Source,
    )
    from pipimem.recall.recall import Recall
    from pipimem.recall.scoring import Part
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.channel_entries import Remembered
    from pipimem.runtime.channel_history import (
        ChannelHistory,
        EntryOrigin,
        LoggedChange,
        TakenBack,
    )
    from pipimem.runtime.entry_list import ListedEntry
    from pipimem.runtime.note_edits import (
        EditConflict,
        EntryPlace,
        ForgetPreview,
        SavedNote,
    )
    from pipimem.runtime.note_files import NoteFiles
    from pipimem.runtime.note_view import (
        NoteBlock,
        NoteView,
    )
    from pipimem.runtime.observability.json_logs import (
        JsonLogFormatter,
        OperationLog,
    )
    from pipimem.runtime.pipimem import Pipimem
    from pipimem.runtime.search_service import SearchHit
    from pipimem.runtime.tools.calls import ToolResult
    from pipimem.runtime.transcript_pages import (
        TranscriptPage,
        TranscriptPages,
    )
    from pipimem.runtime.turn_preview import TurnPreview
    from pipimem.runtime.turns import (
        Receipt,
        Turn,
    )
    from pipimem.runtime.usage_sums import UsageSum
    from pipimem.settings import (
        BudgetSettings,
        CompactionSettings,
        DingTalkSettings,
        EmbedderSettings,
        FleetSettings,
        GroupSettings,
        MaintenanceSettings,
        ModelSettings,
        ObservabilitySettings,
        PrivateSettings,
        RecallSettings,
        SecretSettings,
        Settings,
        SnapshotSettings,
    )
    from pipimem.sidecar.tasks import (
        Assistant,
        Call,
        Consolidate,
        Consolidated,
        Fold,
        Folded,
        HistoryItem,
        KnownEntry,
        Learned,
        Merge,
        Outdated,
        Refile,
        Refresh,
        Refreshed,
        Rerank,
        Reranked,
        Reword,
        Tidied,
        Tidy,
    )
    from pipimem.store.workspace import ChannelInfo
    from pipimem.text.private import PrivateCounts

__version__ = "0.3.0"

__all__ = [
    "AnswerRefused",
    "ArchiveError",
    "ArgumentError",
    "Assistant",
    "Author",
    "BudgetSettings",
    "BudgetSpent",
    "Call",
    "Candidate",
    "CannotTakeBack",
    "Change",
    "Channel",
    "ChannelError",
    "ChannelHistory",
    "ChannelInfo",
    "ChannelMoved",
    "Clock",
    "CompactionSettings",
    "Consolidate",
    "Consolidated",
    "DatabaseUnavailable",
    "DingTalkSettings",
    "EditConflict",
    "Embedder",
    "EmbedderSettings",
    "EntryOrigin",
    "EntryPlace",
    "File",
    "FleetSettings",
    "Fold",
    "Folded",
    "ForgetPreview",
    "GroupSettings",
    "HistoryItem",
    "Item",
    "JournalError",
    "JsonLogFormatter",
    "Kind",
    "KnownEntry",
    "Learned",
    "ListedEntry",
    "LockLost",
    "LockTimeout",
    "LoggedChange",
    "MaintenanceSettings",
    "MemoryRequest",
    "Merge",
    "Message",
    "ModelSettings",
    "ModelTimeout",
    "ModelUnavailable",
    "NoProgress",
    "NoteBlock",
    "NoteFiles",
    "NoteView",
    "NothingFound",
    "ObservabilitySettings",
    "Observer",
    "Operation",
    "OperationLog",
    "Outdated",
    "Part",
    "Pipimem",
    "PipimemError",
    "PrivateCounts",
    "PrivateSettings",
    "Recall",
    "RecallSettings",
    "Receipt",
    "Refile",
    "Refresh",
    "Refreshed",
    "Remembered",
    "Rerank",
    "Reranked",
    "Reword",
    "SavedNote",
    "SearchHit",
    "SecretSettings",
    "Settings",
    "SettingsError",
    "SidecarError",
    "SnapshotSettings",
    "Source",
    "StoreError",
    "TakenBack",
    "Tidied",
    "Tidy",
    "ToolResult",
    "TranscriptError",
    "TranscriptPage",
    "TranscriptPages",
    "Trust",
    "Turn",
    "TurnPreview",
    "UnreadableNote",
    "UsageSum",
    "WorkspaceError",
]

# By module; all others are errors.
_PLACES = {
    "pipimem.clock": "Clock",
    "pipimem.llm.embedding": "Embedder",
    "pipimem.memory.requests": "MemoryRequest",
    "pipimem.notes.kinds": "File Kind",
    "pipimem.notes.message": "Message",
    "pipimem.notes.operations": "Author Change Trust",
    "pipimem.observer": "Observer Operation",
    "pipimem.recall.scoring": "Part",
    "pipimem.recall.items": "Candidate Item Source",
    "pipimem.recall.recall": "Recall",
    "pipimem.runtime.channel": "Channel",
    "pipimem.runtime.pipimem": "Pipimem",
    "pipimem.runtime.turns": "Receipt Turn",
    "pipimem.runtime.channel_entries": "Remembered",
    "pipimem.runtime.channel_history": "ChannelHistory EntryOrigin LoggedChange TakenBack",
    "pipimem.runtime.entry_list": "ListedEntry",
    "pipimem.runtime.note_edits": "EditConflict EntryPlace ForgetPreview SavedNote",
    "pipimem.runtime.note_files": "NoteFiles",
    "pipimem.runtime.note_view": "NoteBlock NoteView",
    "pipimem.runtime.observability.json_logs": "JsonLogFormatter OperationLog",
    "pipimem.runtime.transcript_pages": "TranscriptPage TranscriptPages",
    "pipimem.runtime.turn_preview": "TurnPreview",
    "pipimem.runtime.search_service": "SearchHit",
    "pipimem.runtime.tools.calls": "ToolResult",
    "pipimem.runtime.usage_sums": "UsageSum",
    "pipimem.store.workspace": "ChannelInfo",
    "pipimem.text.private": "PrivateCounts",
    "pipimem.settings": (
        "BudgetSettings CompactionSettings DingTalkSettings EmbedderSettings FleetSettings "
        "GroupSettings MaintenanceSettings ModelSettings ObservabilitySettings PrivateSettings "
        "RecallSettings SecretSettings Settings SnapshotSettings"
    ),
    "pipimem.sidecar.tasks": (
        "Assistant Call Consolidate Consolidated Fold Folded HistoryItem KnownEntry Learned Merge "
        "Outdated Refile Refresh Refreshed Rerank Reranked Reword Tidied Tidy"
    ),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name in ("Bullet", "Over"):  # names of 0.2, until 0.4.0
        return getattr(import_module("pipimem.assistant"), name)
    if name not in __all__:
        raise AttributeError(f"module 'pipimem' has no attribute {name!r}")
    value: object = getattr(import_module(_MODULES.get(name, "pipimem.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
