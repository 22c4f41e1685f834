"""Recall asked by hand: without an event loop, and with nothing written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pipimem.clock import Clock
from pipimem.recall.items import Candidate, Item, Source
from pipimem.recall.recall import Recall
from pipimem.recall.scoring import explained
from pipimem.recall.transcript.passages import headed
from pipimem.runtime.embeddings import embeddings_of
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import Filters, SearchHit, note_hits
from pipimem.runtime.transcript_recall import Seen
from pipimem.runtime.turn_preview import question_vector, session_turn
from pipimem.runtime.turns import Turn
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission

__all__ = [
    "Candidate",
    "Item",
    "Lookup",
    "Recall",
    "SearchHit",
    "Source",
    "explained",
    "headed",
    "hits_in_notes",
]


class Lookup:
    """Opens channels for queries by hand, read-only; at most `count` candidates each.

    `report` is told what takes long, or what a budget has to say.
    """

    def __init__(
        self,
        workspace: WorkspaceStore,
        settings: Settings,
        report: Callable[[str], None],
        count: int | None = None,
    ) -> None:
        self._store, self._budget, self._report = workspace, settings.budget, report
        # What is injected keeps its own limit.
        self._settings = replace(
            settings.recall, candidates=max(count or 0, settings.recall.candidates)
        )
        self._embeddings = embeddings_of(settings, workspace, self._admission, keeps=False)
        self._snapshot, self._own = settings.snapshot, settings.secrets
        self._vocabulary = Vocabulary(workspace)
        self._open: dict[str, RecallService] = {}

    def recalled(
        self, channel: str, text: str, speaker: str = "", *, automatic: bool = True
    ) -> Recall:
        """Recall for one query on fresh files. Raises `ChannelError` for an unknown channel.

        Nobody waits for a turn here, so the question's vector is waited for, and so is the index of
        the transcript: `excerpts` are those of a turn whose model sees none of the talk.
        """
        service, now = self._reading(channel), Clock().now()
        if not automatic:
            return service.recalled(text, now, speaker=speaker, automatic=False)
        service.transcript_recall.warm()
        vector = question_vector(service, text, now)
        return service.recalled(text, now, speaker=speaker, question=vector, seen=Seen())

    def context(self, channel: str, found: Recall) -> str:
        """The block of what was recalled, as a turn has it."""
        return found.context(self._reading(channel).store.key)

    def first_turn(self, channel: str, text: str, speaker: str = "") -> Turn:
        """The turn of a message with which a session begins; nobody is told that it was shown."""
        message = Turn(text, speaker, Clock().now(), first=True)
        return session_turn(self._reading(channel), message)

    def _reading(self, channel: str) -> RecallService:
        known = self._open.get(channel)
        if known is None:
            store = ChannelStore.open(self._store, channel, create=False)
            known = self._open[channel] = RecallService(
                store,
                self._vocabulary,
                self._settings,
                None,
                self._embeddings,
                self._snapshot,
                self._own,
            )
            known.notes()
            self._embed(known)
        else:
            known.notes()
        return known

    def _embed(self, service: RecallService) -> None:
        """With an embedder, embed what it has not kept; nothing is kept."""
        if self._embeddings is None:
            return
        self._embeddings.baseline()
        missing = len(service.texts_without_vectors(None))
        if missing:
            from pipimem.runtime.maintenance.service_queue import (
                embed_missing,  # an event loop that others do not need
            )

            self._report(
                f"embedding {missing} entries for this question alone; "
                "`pipimem maintain` keeps their vectors"
            )
            embed_missing(service, self._embeddings)

    def _admission(self) -> Admission:
        from pipimem.llm.admission import Admission  # only where embedding costs something

        return Admission(self._store.usage_store, self._budget, Clock(), self._report)


def hits_in_notes(
    workspace: WorkspaceStore,
    settings: Settings,
    channel: str,
    query: str,
    count: int,
    filters: Filters,
) -> list[SearchHit]:
    """What a channel's notes have to say to a question as it stands, best first.

    Raises `ChannelError` for an unknown channel.
    """
    store = ChannelStore.open(workspace, channel, create=False)
    own = settings.secrets
    service = RecallService(store, Vocabulary(workspace), settings.recall, own=own)
    service.notes()
    recalled = partial(service.recalled, query, Clock().now(), automatic=False)
    return note_hits(lambda most: recalled(limit=most), count, filters)
