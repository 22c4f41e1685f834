"""Recall by hand: a turn or a recall as it would be for a message, and why; nothing is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.errors import require_type
from pipimem.llm.embedding import Vector
from pipimem.recall.items import Candidate, Item, Source
from pipimem.recall.recall import Recall
from pipimem.recall.scoring import Part, explained
from pipimem.recall.transcript.excerpts import headed
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import SearchHit
from pipimem.runtime.threads import run_in_thread
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turns import Turn, turn_of

__all__ = [
    "Candidate",
    "Item",
    "Recall",
    "RecallByHand",
    "SearchHit",
    "Source",
    "TurnPreview",
    "explained",
    "headed",
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


@dataclass(slots=True, eq=False)
class RecallByHand:
    """What one channel's memory would put before a message.

    The model is taken to have seen nothing of the talk. Nobody waits for a turn here, so the
    message's vector and the index of the transcript are waited for.
    """

    _access: ChannelAccess
    _service: RecallService

    async def recall(self, text: str, *, speaker: str = "", automatic: bool = True) -> Recall:
        """What would be recalled, and what was said of it.

        Without `automatic` the words count as they stand, also where a turn would be silent, and
        the transcript is not asked.
        """
        _require_message(text, speaker)
        return await run_in_thread(self._recalled, text, speaker, automatic)

    def _recalled(self, text: str, speaker: str, automatic: bool) -> Recall:
        service, now = self._service, self._access.clock.now()
        service.notes()
        if not automatic:
            return service.recalled(text, now, speaker=speaker, automatic=False)
        service.transcript_recall.warm()
        vector = self._vector(text, now)
        return service.recalled(text, now, speaker=speaker, question=vector, seen=Seen())

    def context(self, found: Recall) -> str:
        """The block of what was recalled, as a turn has it; empty without anything."""
        return found.context(self._access.store.key)

    async def turn(self, text: str, *, speaker: str = "", first: bool = True) -> Turn:
        """The turn of a message, on a session's `first` turn or a later one."""
        _require_message(text, speaker)
        message = Turn(text, speaker, self._access.clock.now(), first=first)
        return await run_in_thread(self._turn, message)

    async def preview_turn(
        self, text: str, *, speaker: str = "", first: bool = True
    ) -> TurnPreview:
        """The same turn, and why it is as it is."""
        _require_message(text, speaker)
        message = Turn(text, speaker, self._access.clock.now(), first=first)
        return await run_in_thread(self._preview, message)

    def _preview(self, message: Turn) -> TurnPreview:
        service, text, now = self._service, message.query, message.time
        turn = self._turn(message)
        query = service.query(text, now, message.speaker, automatic=True)
        searched = service.recalled(text, now, automatic=False)
        recalled = turn.recall.candidates if turn.recall is not None else ()
        known = {candidate.item.id for candidate in recalled}
        return TurnPreview(
            turn,
            words=tuple(Part(term.written or term.word, term.weight) for term in query.terms),
            written={term.word: term.written for term in query.terms if term.written},
            names=query.entities,
            intents=tuple(query.intents),
            below=tuple(found for found in searched.candidates if found.item.id not in known),
        )

    def _turn(self, message: Turn) -> Turn:
        service = self._service
        notes = service.notes()
        opening = service.opening(first=message.first)
        service.transcript_recall.warm()
        personal = service.personal_items(message.query, message.speaker, message.time.date())
        opening = opening.with_personal(personal, notes)
        found = service.recalled(
            message.query,
            message.time,
            speaker=message.speaker,
            shown=opening.ids,
            question=self._vector(message.query, message.time),
            seen=Seen(shown=opening.ids, words=opening.words),
        )
        return turn_of(message, opening, found, notes)

    def _vector(self, text: str, now: datetime) -> Vector | None:
        """The vector of a message; `None` without an embedder, and where it would be of no use."""
        service = self._service
        if service.embeddings is None or not service.wants_vector(text, now):
            return None
        return service.embeddings.question(text)


def _require_message(text: object, speaker: object) -> None:
    require_type(text, str, "text", "Give the message as text.")
    require_type(speaker, str, "speaker", "Without a name it is empty.")
