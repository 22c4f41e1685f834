"""Past texts without forgotten words: what merges need of them stays, with a placeholder for each line that went."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pipimem.notes.files import File
from pipimem.store.commits.desk import Desk
from pipimem.store.forgetting.needles import Needles, without
from pipimem.store.journal.placeholders import is_placeholder, placeholder
from pipimem.store.journal.state import PastText
from pipimem.text.lines import split_lines

# An archive is long, and nobody has an older text of it open than these.
_ARCHIVES = 3


def clean_past(desk: Desk, file: File, needles: Needles, now: datetime) -> set[str]:
    """Keeps the past texts of a file as versions with placeholders; answers with the lines that went."""
    kept, gone = _marked(desk.state.past_texts(file), needles, desk.key)
    desk.state.versions.keep_only(file, kept, now)
    return gone


def keep_past_of_archive(desk: Desk, archive: str, needles: Needles, now: datetime) -> None:
    """Keeps the archive as it is before its cleaning, with placeholders, and what was kept of it so before."""
    past = [PastText(split_lines(archive)), *desk.state.past_texts(File.ARCHIVE)]
    kept, _ = _marked(past, needles, desk.key)
    marked = [text for text in kept if is_placeholder(text)]
    desk.state.versions.keep_only(File.ARCHIVE, marked[:_ARCHIVES], now)


def _marked(past: Iterable[PastText], needles: Needles, key: bytes) -> tuple[list[str], set[str]]:
    """The texts with placeholders for what holds a needle, but for those that had nothing else; and the lines that went."""
    gone: set[str] = set()
    kept: list[str] = []
    for each in past:
        # Neighbours have most lines in common: what went from one is not looked for by its blocks in the next.
        rest = [line for line in each.lines if line not in gone]
        clean = split_lines(without("".join(rest), needles, key)[0])
        gone.update(filter(str.strip, set(rest) - set(clean)))
        if any(map(str.strip, clean)):
            lines = each.marked or each.lines
            kept.append("".join(placeholder(key, line) if line in gone else line for line in lines))
    return kept, gone
