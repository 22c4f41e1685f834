"""Whether a text on disk is what a person meant, or an editor halfway through a save."""

from __future__ import annotations

import time
from pathlib import Path

# Editors that truncate and write are done within hundreds of ms; what stands longer was meant.
SAVE_GRACE_SECONDS = 2.0


def may_be_half_saved(path: Path, text: str, known: str) -> bool:
    """Whether the file was just now emptied, removed, or cut in the middle of a line.

    `text` is what it has, `known` the text that it had before.
    """
    if len(text) >= len(known) or (text.strip() and not _is_cut(text, known)):
        return False
    try:
        changed = (path if path.exists() else path.parent).stat().st_mtime
    except OSError:  # the folder went too: nothing is being saved there
        return False
    return is_recent(changed)


def is_recent(changed: float) -> bool:
    """Whether a file of this modification time, in seconds, may be in the middle of a save."""
    # The disk's own clock is the wall clock; no other part of the store reads it.
    return abs(time.time() - changed) < SAVE_GRACE_SECONDS


def _is_cut(text: str, known: str) -> bool:
    # Editors write in blocks, which end anywhere; a person who deletes the last bullet leaves whole
    # lines.
    return (
        known.startswith(text)
        and not text.endswith(("\n", "\r"))
        and known[len(text)] not in "\r\n"
    )
