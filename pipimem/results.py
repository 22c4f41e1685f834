"""The types of answers that a host only annotates with."""

from __future__ import annotations

from pipimem.memory.requests import MemoryRequest
from pipimem.notes.operations import Tokens
from pipimem.recall.scoring import Part
from pipimem.runtime.agenda_list import AgendaItem
from pipimem.runtime.conflict_list import ListedConflict
from pipimem.runtime.forget_preview import Forgettable, Passage
from pipimem.runtime.forgetting import ForgetCounts, ForgetPreview
from pipimem.runtime.history import (
    Comparison,
    EditByHand,
    EditedLine,
    EntryOrigin,
    LoggedChange,
    Moment,
    RestorePreview,
    TakenBack,
)
from pipimem.runtime.note_edits import EditConflict, EntryPlace, SavedNote
from pipimem.runtime.note_view import NoteBlock, NoteView
from pipimem.runtime.notes import LeftOutItem, Remembered
from pipimem.runtime.recall_preview import TurnPreview
from pipimem.runtime.search_service import SearchAnswer, TalkExtent
from pipimem.runtime.talk import TranscriptPage
from pipimem.runtime.upkeep import JobRun
from pipimem.runtime.usage_sums import UsageSum
from pipimem.state.changes import RefusedLine
from pipimem.store.workspace import ChannelInfo
from pipimem.text.private import PrivateCounts

__all__ = [
    "AgendaItem",
    "ChannelInfo",
    "Comparison",
    "EditByHand",
    "EditConflict",
    "EditedLine",
    "EntryOrigin",
    "EntryPlace",
    "ForgetCounts",
    "ForgetPreview",
    "Forgettable",
    "JobRun",
    "LeftOutItem",
    "ListedConflict",
    "LoggedChange",
    "MemoryRequest",
    "Moment",
    "NoteBlock",
    "NoteView",
    "Part",
    "Passage",
    "PrivateCounts",
    "RefusedLine",
    "Remembered",
    "RestorePreview",
    "SavedNote",
    "SearchAnswer",
    "TakenBack",
    "TalkExtent",
    "Tokens",
    "TranscriptPage",
    "TurnPreview",
    "UsageSum",
]
