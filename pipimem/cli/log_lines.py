"""What commands write beside their answer: text for eyes, or JSON for whoever collects logs."""

from __future__ import annotations

import sys
from typing import Literal

_JSON_LOGS = "pipimem.logs"


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
