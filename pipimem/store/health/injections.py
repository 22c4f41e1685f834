"""Entries that read like an instruction to the bot, in any of a channel's notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.notes import Notes
from pipimem.store.health.finding import Finding, worth_knowing
from pipimem.text.injection import injection_kind

_FILES = (File.MEMORY, File.SESSION, File.HISTORY)


def injection_findings(folder: Path, notes: Notes) -> Iterator[Finding]:
    """One finding an entry; its words are not repeated, for findings are read by bots as well."""
    for file in _FILES:
        for entry in notes.note(file).entries:
            kind = injection_kind(entry.text)
            if kind:
                what = f"reads like an instruction to the bot ({kind}); it is shown as data only, "
                where = f"{folder / file}, line {entry.start + 1}"
                yield worth_knowing(where, f"{what}take it out if nobody needs it")
