"""Recall for the turns of one channel: asked for, reordered and counted, in threads where slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.errors import PipimemError, SidecarError, StoreError
from pipimem.llm.embedding import Vector
from pipimem.memory.promote import confirmed, recalled_entries
from pipimem.memory.requests import requests
from pipimem.notes.ledger import Asked
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Decision
from pipimem.observer import Operation
from pipimem.recall.budget import Limits, limits_of, within
from pipimem.recall.query import both_ends
from pipimem.recall.recall import Recall, unsure
from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.intake import Intake
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.runtime.maintenance.channel_jobs import ChannelJobs
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turns import Opening, Turn
from pipimem.settings import Settings
from pipimem.sidecar.tasks import Assistant, Call, Rerank, Reranked, answered
from pipimem.text.secrets import redacted
from pipimem.text.token_count import clipped

# What a model sees of a candidate: enough to judge it, so that all candidates fit into one prompt.
CANDIDATE_CHARS = 800


async def rerank(
    assistant: Assistant, found: Recall, query: str, limits: Limits, shown: Set[str], call: Call
) -> Recall:
    """What was found, in the order an assistant gives; raises `SidecarError` when it fails."""
    texts = tuple(clipped(redacted(one.item.text), CANDIDATE_CHARS) for one in found.candidates)
    answer = await answered(
        assistant, Rerank(redacted(query)[:CANDIDATE_CHARS], texts), Reranked, call
    )
    return reordered(found, answer.order, limits, shown)


def reordered(
    found: Recall, order: Sequence[int], limits: Limits, shown: Set[str] = frozenset()
) -> Recall:
    """What is injected in an `order` (places from 1, best first); an empty one keeps the first.

    `candidates` stay in the local order, so that an explanation still holds.
    """
    chosen = [found.candidates[place - 1] for place in order] or list(found.candidates[:1])
    injected, left_out = within(chosen, limits, shown, found.excerpts)
    return replace(found, injected=injected, left_out=left_out)


T = TypeVar("T")

# A question says what it is about at its beginning.
_QUESTION_CHARS = 300
# The jobs, as the operator reads of them.
_RERANK, _READING = "rerank", "reading requests"
# Cutting so many characters into words, and looking for them, takes some 5 ms.
_LONG_QUESTION = 400
# The first question of a process waits so long at most for the index of the transcript: reading a
# kept one of 100,000 messages takes 0.05 s, cutting 1,000 messages 0.2 s.
_FIRST_WAIT_SECONDS = 1.0
# A host that names a wrong message would be shown twice what its model sees.
_UNKNOWN_ID = (
    "visible: {!r} is the id of none of the newest messages here, so what the model still sees "
    "was guessed. Give the id that the message was stored with, or none."
)
# Of one candidate there is no order.
_LEAST_TO_RERANK = 2


@dataclass(slots=True)
class TurnRecall:
    """What a channel's `service` recalls, for an event loop that must not wait for it.

    `request_embedding` is called when entries may have changed and are to be embedded.
    """

    service: RecallService
    jobs: ChannelJobs
    intake: Intake
    settings: Settings
    background: Background
    request_embedding: Callable[[RecallService], None]
    # Whether no question is asked on the event loop, however quick it is.
    in_threads: bool = False
    # The first question compiles patterns and opens dictionaries.
    _has_asked: bool = False

    async def read(self, turn: Turn) -> Turn:
        """The turn with what its message asks of memory, as it may be kept, and what is private.

        In a thread where the text is long or asks for something.
        """
        folder = self.jobs.store.folder.name
        found = await self.background.attempt(_READING, partial(self._read_in_time, turn), folder)
        return turn if isinstance(found, Failure) else found

    async def _read_in_time(self, turn: Turn) -> Turn:
        if len(turn.query) <= _LONG_QUESTION and not requests(turn.query):
            return replace(turn, private=self.intake.private_counts(turn.query))
        return await to_thread.run_sync(self._read, turn)

    def _read(self, turn: Turn) -> Turn:
        asked = requests(turn.query)
        if asked:
            asked = requests(self.intake.cleaned_text(turn.query), turn.speaker)
        return replace(turn, requests=asked, private=self.intake.private_counts(turn.query))

    async def ready(self) -> Notes:
        """Fresh notes with the index updated; in a thread where files changed."""
        unchanged = self.jobs.store.unchanged()
        if self.service.is_up_to(unchanged):
            return self.service.notes(unchanged)
        return await to_thread.run_sync(self.service.notes)

    async def wait_for_transcript(self) -> None:
        """Before the first question, wait a moment for the index of the transcript."""
        if not self._has_asked:
            wait = self.service.transcript_recall.wait
            await to_thread.run_sync(wait, _FIRST_WAIT_SECONDS)

    def unknown_id_problem(self) -> str:
        """Says, once a session, that `visible` named no message; else it is empty."""
        unknown = self.service.transcript_recall.unknown_id()
        return _UNKNOWN_ID.format(unknown) if unknown else ""

    async def opening(self, message: Turn, notes: Notes, shown: Set[str]) -> Opening:
        """What a turn begins with; in a thread where that was not made of these notes yet.

        What was `shown`, and the model still holds, is left out but of the `first` turn.
        """
        first = message.first
        opening = self.service.known_opening(first=first)
        if opening is None:
            opening = await to_thread.run_sync(partial(self.service.opening, first=first))
        personal = self.service.personal_items(message.query, message.speaker, message.time.date())
        if not first and shown:
            opening = Opening() if opening.ids <= shown else opening.without(shown, notes)
            personal = tuple(item for item in personal if item.id not in shown)
        return opening.with_personal(personal, notes)

    async def recalled(
        self,
        text: str,
        now: datetime,
        speaker: str,
        *,
        limit: int | None = None,
        automatic: bool = True,
        shown: frozenset[str] = frozenset(),
        seen: Seen | None = None,
        record: bool = True,
    ) -> Recall:
        """What the notes, as last read, and the transcript have to say to a message.

        What is not on the `record` no embedder sees, and no observer reads.
        """
        with self.jobs.observers.of("recall", self.jobs.store.channel_id) as operation:
            found = await self._recalled(
                text, now, speaker, limit, shown, seen, automatic=automatic, record=record
            )
            operation.records = len(found.injected) + len(found.excerpts)
            if record and self.jobs.observers.wants_content:
                await to_thread.run_sync(self._note_content, operation, text, found)
        return found

    def _note_content(self, operation: Operation, text: str, found: Recall) -> None:
        items = (*found.injected, *found.excerpts)
        operation.text = self.intake.cleaned_text(text)
        operation.texts = tuple(self.intake.cleaned_text(item.text) for item in items)

    async def _recalled(
        self,
        text: str,
        now: datetime,
        speaker: str,
        limit: int | None,
        shown: frozenset[str],
        seen: Seen | None,
        *,
        automatic: bool,
        record: bool,
    ) -> Recall:
        question = await self._question(text, now, automatic=automatic) if record else None
        recalled = partial(
            self.service.recalled,
            text,
            now,
            speaker=speaker,
            limit=limit,
            automatic=automatic,
            shown=shown,
            question=question,
            seen=seen,
        )
        return await self._ask_in_thread(text, recalled)

    async def _ask_in_thread(self, text: str, ask: Callable[[], T]) -> T:
        """Call `ask`, in a thread where it may take long: a long text, or words not loaded."""
        words, asked = self.service.vocabulary.words, both_ends(text)
        is_quick = self._has_asked and len(asked) <= _LONG_QUESTION and words.is_ready_for(asked)
        if is_quick and not self.in_threads:
            return ask()
        found = await to_thread.run_sync(ask)
        self._has_asked = True
        return found

    async def _question(self, text: str, now: datetime, *, automatic: bool) -> Vector | None:
        """The embedding of a message, `None` if it is late or of no use."""
        embeddings = self.service.embeddings
        if embeddings is None:
            return None
        self.request_embedding(self.service)
        ask = partial(self.service.wants_vector, text, now, automatic=automatic)
        if not await self._ask_in_thread(text, ask):
            return None
        found = None
        with anyio.move_on_after(self.settings.embedder.timeout):
            ask_embedder = partial(self._embedded, embeddings, text)
            found = await to_thread.run_sync(ask_embedder, abandon_on_cancel=True)
        # While this waited, others' questions may have laid the index to rest.
        await self.ready()
        return found

    def _embedded(self, embeddings: Embeddings, text: str) -> Vector | None:
        return embeddings.question(self.intake.cleaned_text(text))

    async def reranked(self, found: Recall, text: str, shown: frozenset[str]) -> Recall:
        """The recall reordered by a model if allowed and unsure; unchanged on any failure."""
        folder, limits = self.jobs.store.folder.name, limits_of(self.settings.recall)
        if not self._may_rerank(found, shown) or self.background.pause(_RERANK, folder):
            return found
        asked = await to_thread.run_sync(self.intake.cleaned_text, text)
        try:
            ordered = await self.background.attempt(
                _RERANK,
                partial(self._in_a_models_order, found, asked, limits, shown),
                folder,
                passes=(SidecarError, StoreError),
            )
        except (SidecarError, StoreError):
            # A disk that cannot keep the account of it must not stop a turn either.
            return found
        return found if isinstance(ordered, Failure) else ordered

    async def _in_a_models_order(
        self, found: Recall, text: str, limits: Limits, shown: frozenset[str]
    ) -> Recall:
        call = self.jobs.call(self.settings.model.rerank_timeout)
        return await self.jobs.with_timeout(
            call.timeout, lambda: rerank(self.jobs.assistant, found, text, limits, shown, call)
        )

    def _may_rerank(self, found: Recall, shown: frozenset[str]) -> bool:
        policy = self.settings.recall.rerank
        if policy == "never" or not self.jobs.assistant.paid:
            return False
        if len(found.candidates) < _LEAST_TO_RERANK:
            return False
        limits = limits_of(self.settings.recall)
        return policy != "auto" or unsure(found.candidates, limits, shown)

    async def count(self, turn: Turn) -> None:
        """Count entries that the question found, printed or not; may end a probation."""
        if turn.recall is None or not turn.recall.candidates:
            return
        decision = await to_thread.run_sync(self._counted, turn, turn.recall)
        if decision is not None:
            # The talk that comes after this must reach the disk, and waits for no other commit: the
            # next one ends the probation as well, with the recalls that were counted.
            with suppress(PipimemError):
                await self.jobs.commit(decision, "pipimem", of_a_turn=True)

    def _counted(self, turn: Turn, recall: Recall) -> Decision | None:
        """Counts what a turn recalled; the decision that ends the probations of what was."""
        question = self.intake.cleaned_text(turn.query)[:_QUESTION_CHARS]
        best = recall.candidates[: self.settings.recall.inject]
        # What was shown before or had no room was asked for all the same; what only stands in the
        # snapshot was not.
        found = tuple(dict.fromkeys((*recall.ids, *(one.item.id for one in best))))
        asked = None
        if question.strip():
            asked = Asked(question, turn.time.isoformat(timespec="seconds"), found)
        store = self.jobs.store
        try:
            notes = store.notes(refresh=False)
        except PipimemError:
            # Read anew after a rest, and unreadable now: the talk must reach the disk all the same.
            return None
        recalled = recalled_entries(notes, found)
        store.touch_recalls([entry.id for entry in recalled], turn.time, asked)
        return confirmed(notes.ledger, recalled)
