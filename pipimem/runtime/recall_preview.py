"""A turn or a recall as it would be for a message, and why; nothing is kept or counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from pipimem.clock import Clock
from pipimem.llm.embedding import Vector
from pipimem.recall.items import Candidate, Item, Source
from pipimem.recall.recall import Recall
from pipimem.recall.scoring import Part, explained
from pipimem.recall.transcript.passages import headed
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.embeddings import Embeddings, embeddings_of
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import Filters, SearchHit, note_hits
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turns import Turn, turn_of
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission

__all__ = [
    "Candidate",
    "Item",
    "Recall",
    "SearchHit",
    "Source",
    "TurnPreview",
    "embeddings_by_hand",
    "explained",
    "headed",
    "hits_in_notes",
    "question_vector",
    "recall_service_of",
    "recalled_by_hand",
    "session_turn",
    "turn_preview",
]


@dataclass(frozen=True, slots=True)
class TurnPreview:
    """What a turn would show, and how its message was read.

    `turn` has the blocks, and the candidates with their scores. `words` are what was looked for and
    how much each counts in the question, `written` are those of which scores name the stem. `names`
    are what the message quotes or names, `intents` what it is after. `below` are entries that a
    search finds and that are no candidates of the turn: their evidence is too little, or others say
    the same or come first.
    """

    turn: Turn
    words: tuple[Part, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    below: tuple[Candidate, ...] = ()


def session_turn(service: RecallService, message: Turn) -> Turn:
    """The turn of a message in a session whose model has seen nothing else.

    Waits for the index of the transcript and for the message's vector, for nobody waits for a turn.
    """
    notes = service.notes()
    opening = service.opening(first=message.first)
    service.transcript_recall.warm()
    found = service.recalled(
        message.query,
        message.time,
        speaker=message.speaker,
        shown=opening.ids,
        question=question_vector(service, message.query, message.time),
        seen=Seen(shown=opening.ids, words=opening.words),
    )
    return turn_of(message, opening, found, notes)


def question_vector(service: RecallService, text: str, now: datetime) -> Vector | None:
    """The vector of a message; `None` without an embedder, and where it would be of no use."""
    if service.embeddings is None or not service.wants_vector(text, now):
        return None
    return service.embeddings.question(text)


def turn_preview(service: RecallService, message: Turn) -> TurnPreview:
    """The turn of a message in such a session, and why it is as it is."""
    turn = session_turn(service, message)
    query = service.query(message.query, message.time, message.speaker, automatic=True)
    searched = service.recalled(message.query, message.time, automatic=False)
    recalled = turn.recall.candidates if turn.recall is not None else ()
    known = {one.item.id for one in recalled}
    return TurnPreview(
        turn,
        words=tuple(Part(term.written or term.word, term.weight) for term in query.terms),
        written={term.word: term.written for term in query.terms if term.written},
        names=query.entities,
        intents=tuple(query.intents),
        below=tuple(one for one in searched.candidates if one.item.id not in known),
    )


# ── for commands ──────────────────────────────────────────────────────────────────────────────────


def embeddings_by_hand(
    workspace: WorkspaceStore, settings: Settings, report: Callable[[str], None]
) -> Embeddings | None:
    """Return the embedder of the settings, if any, for queries whose vectors are not kept."""

    def admission() -> Admission:
        from pipimem.llm.admission import Admission  # only where embedding costs something

        return Admission(workspace.usage_store, settings.budget, Clock(), report)

    return embeddings_of(settings, workspace, admission, keeps=False)


def recall_service_of(
    access: ChannelAccess,
    settings: Settings,
    vocabulary: Vocabulary,
    embeddings: Embeddings | None = None,
    *,
    count: int | None = None,
    report: Callable[[str], None] | None = None,
) -> RecallService:
    """Return the recall of one channel for queries by hand; it writes nothing.

    It finds at least `count` candidates; what is injected keeps its own limit. Entries without a
    vector are embedded for it alone, and `report` is told.
    """
    recall = settings.recall
    service = RecallService(
        access.store,
        vocabulary,
        replace(recall, candidates=max(count or 0, recall.candidates)),
        None,
        embeddings,
        settings.snapshot,
        settings.secrets,
    )
    service.notes()
    if embeddings is not None:
        embeddings.baseline()
        missing = len(service.texts_without_vectors(None))
        if missing and report is not None:
            report(
                f"embedding {missing} entries for this question alone; "
                "`pipimem maintain` keeps their vectors"
            )
        service.embed_missing(embeddings)
    return service


def recalled_by_hand(
    service: RecallService, text: str, now: datetime, speaker: str = "", *, automatic: bool = True
) -> Recall:
    """Return the recall for one query on fresh files.

    Nobody waits for a turn here, so the question's vector is waited for, and so is the index of the
    transcript: `excerpts` are those of a turn whose model sees none of the talk.
    """
    service.notes()
    if not automatic:
        return service.recalled(text, now, speaker=speaker, automatic=False)
    service.transcript_recall.warm()
    vector = question_vector(service, text, now)
    return service.recalled(text, now, speaker=speaker, question=vector, seen=Seen())


def hits_in_notes(
    service: RecallService, query: str, now: datetime, count: int, filters: Filters
) -> list[SearchHit]:
    """Return what a channel's notes have to say to a question as it stands, best first."""
    service.notes()
    recalled = partial(service.recalled, query, now, automatic=False)
    return note_hits(lambda most: recalled(limit=most), count, filters)
