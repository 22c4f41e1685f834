"""pipimem gives a chat-bot agent a memory that people can open in an editor."""

from pipimem.clock import Clock
from pipimem.errors import (
    AnswerRefused,
    BudgetSpent,
    ChannelError,
    JournalError,
    LockTimeout,
    ModelTimeout,
    ModelUnavailable,
    NothingFound,
    OperationRefused,
    PipimemError,
    SettingsError,
    SidecarError,
    StoreError,
    TranscriptError,
    UnreadableNote,
    WorkspaceError,
)
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.runtime.channel import Channel
from pipimem.runtime.pipimem import Pipimem
from pipimem.runtime.turns import Receipt, Turn
from pipimem.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "AnswerRefused",
    "BudgetSpent",
    "Channel",
    "ChannelError",
    "Clock",
    "JournalError",
    "Kind",
    "LockTimeout",
    "Message",
    "ModelTimeout",
    "ModelUnavailable",
    "NothingFound",
    "OperationRefused",
    "Pipimem",
    "PipimemError",
    "Receipt",
    "Settings",
    "SettingsError",
    "SidecarError",
    "StoreError",
    "TranscriptError",
    "Turn",
    "UnreadableNote",
    "WorkspaceError",
]
