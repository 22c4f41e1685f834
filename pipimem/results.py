"""The types of answers that a host only annotates with."""

from __future__ import annotations

from pipimem.memory.requests import MemoryRequest
from pipimem.recall.scoring import Part
from pipimem.runtime.history import EntryOrigin, LoggedChange, TakenBack
from pipimem.runtime.note_edits import EditConflict, EntryPlace, ForgetPreview, SavedNote
from pipimem.runtime.note_view import NoteBlock, NoteView
from pipimem.runtime.notes import Remembered
from pipimem.runtime.recall_preview import TurnPreview
from pipimem.runtime.talk import TranscriptPage
from pipimem.runtime.upkeep import JobRun
from pipimem.runtime.usage_sums import UsageSum
from pipimem.store.workspace import ChannelInfo
from pipimem.text.private import PrivateCounts

__all__ = [
    "ChannelInfo",
    "EditConflict",
    "EntryOrigin",
    "EntryPlace",
    "ForgetPreview",
    "JobRun",
    "LoggedChange",
    "MemoryRequest",
    "NoteBlock",
    "NoteView",
    "Part",
    "PrivateCounts",
    "Remembered",
    "SavedNote",
    "TakenBack",
    "TranscriptPage",
    "TurnPreview",
    "UsageSum",
]
