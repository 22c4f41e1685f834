"""The types of answers that a host only annotates with."""

from __future__ import annotations

from pipimem.memory.requests import MemoryRequest
from pipimem.recall.scoring import Part
from pipimem.runtime.channel_entries import Remembered
from pipimem.runtime.channel_history import EntryOrigin, LoggedChange, TakenBack
from pipimem.runtime.note_edits import EditConflict, EntryPlace, ForgetPreview, SavedNote
from pipimem.runtime.note_files import NoteFiles
from pipimem.runtime.note_view import NoteBlock, NoteView
from pipimem.runtime.transcript_pages import TranscriptPage, TranscriptPages
from pipimem.runtime.turn_preview import TurnPreview
from pipimem.runtime.usage_sums import UsageSum
from pipimem.store.workspace import ChannelInfo
from pipimem.text.private import PrivateCounts

__all__ = [
    "ChannelInfo",
    "EditConflict",
    "EntryOrigin",
    "EntryPlace",
    "ForgetPreview",
    "LoggedChange",
    "MemoryRequest",
    "NoteBlock",
    "NoteFiles",
    "NoteView",
    "Part",
    "PrivateCounts",
    "Remembered",
    "SavedNote",
    "TakenBack",
    "TranscriptPage",
    "TranscriptPages",
    "TurnPreview",
    "UsageSum",
]
