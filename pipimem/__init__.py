"""pipimem gives a chat-bot agent a memory that people can open in an editor."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipimem.clock import Clock
    from pipimem.errors import (
        AnswerRefused,
        BudgetSpent,
        CannotTakeBack,
        ChannelError,
        JournalError,
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
    from pipimem.notes.kinds import Kind
    from pipimem.notes.message import Message
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.pipimem import Pipimem
    from pipimem.runtime.turns import Receipt, Turn
    from pipimem.settings import Settings
    from pipimem.sidecar.embedding.embedder import Embedder

__version__ = "0.2.0"

__all__ = [
    "AnswerRefused",
    "BudgetSpent",
    "CannotTakeBack",
    "Channel",
    "ChannelError",
    "Clock",
    "Embedder",
    "JournalError",
    "Kind",
    "LockTimeout",
    "Message",
    "ModelTimeout",
    "ModelUnavailable",
    "NoProgress",
    "NothingFound",
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

_ROOMS = {
    "Channel": "runtime.channel",
    "Clock": "clock",
    "Embedder": "sidecar.embedding.embedder",
    "Kind": "notes.kinds",
    "Message": "notes.message",
    "Pipimem": "runtime.pipimem",
    "Receipt": "runtime.turns",
    "Settings": "settings",
    "Turn": "runtime.turns",
}


def __getattr__(name: str) -> object:
    """A public name, loaded when it is first asked for: a host that only imports pipimem waits for nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'pipimem' has no attribute {name!r}")
    value: object = getattr(import_module(f"pipimem.{_ROOMS.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
