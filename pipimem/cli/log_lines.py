"""What commands write beside their answer: text for eyes, or JSON for whoever collects logs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pipimem.observer import Observer
    from pipimem.settings import ObservabilitySettings

_JSON_LOGS = "pipimem.logs"


def log_observers(settings: ObservabilitySettings) -> list[Observer]:
    """Have log lines written as settings and PIPIMEM_LOG say; who logs each operation then.

    Raises `SettingsError` for a format that there is not.
    """
    from pipimem.logs import OperationLog, log_as_json, wants_json

    if not wants_json(settings.logs):
        return []
    log_as_json()
    return [OperationLog(channel_ids=settings.channel_ids)]


def logs_are_json() -> bool:
    """Whether log lines are written as JSON."""
    # Loaded where they are: a command that only reads files does without.
    loaded = sys.modules.get(_JSON_LOGS)
    return loaded is not None and bool(loaded.logs_are_json())


def logged(text: str, level: Literal["INFO", "WARNING", "ERROR"] = "INFO") -> bool:
    """Write a sentence as a log line where those are JSON; whether it was."""
    loaded = sys.modules.get(_JSON_LOGS)
    if loaded is None or not loaded.logs_are_json():
        return False
    loaded.log_sentence(level, text)
    return True
