"""A turn as it would be for a message, and how memory was asked; nothing is kept or counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from pipimem.llm.embedding import Vector
from pipimem.recall.items import Candidate
from pipimem.recall.scoring import Part
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turns import Turn, turn_of

if TYPE_CHECKING:
    from pipimem.runtime.recall_service import RecallService


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
