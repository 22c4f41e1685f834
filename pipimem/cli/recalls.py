"""Recall asked by hand: the channels of a command, opened once each, with nothing written."""

from __future__ import annotations

from pipimem.cli.options import Chosen
from pipimem.cli.output import note
from pipimem.clock import Clock
from pipimem.runtime.recall_preview import (
    Recall,
    SearchHit,
    Source,
    embeddings_by_hand,
    hits_in_notes,
    recall_service_of,
    recalled_by_hand,
    session_turn,
)
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.search_service import Filters
from pipimem.runtime.turns import Turn
from pipimem.runtime.vocabulary import Vocabulary

__all__ = ["ChannelRecalls", "Source"]


class ChannelRecalls:
    """The recall of channels for queries; at least `count` candidates each.

    With `embeds` by the embedder of the settings, too: what is not embedded yet is, for this
    command alone.
    """

    def __init__(self, chosen: Chosen, count: int | None = None, *, embeds: bool = True) -> None:
        self._chosen, self._count = chosen, count
        self._workspace, self._settings = chosen.store(), chosen.settings()
        self._vocabulary = Vocabulary(self._workspace)
        self._embeddings = None
        if embeds:
            self._embeddings = embeddings_by_hand(self._workspace, self._settings, note)
        self._open: dict[str, RecallService] = {}

    def recalled(
        self, channel: str, text: str, speaker: str = "", *, automatic: bool = True
    ) -> Recall:
        """Return the recall for one query. Raises `ChannelError` for an unknown channel."""
        now = Clock().now()
        return recalled_by_hand(self._of(channel), text, now, speaker, automatic=automatic)

    def context(self, channel: str, found: Recall) -> str:
        """Return the block of what was recalled, as a turn has it."""
        return found.context(self._of(channel).store.key)

    def first_turn(self, channel: str, text: str, speaker: str = "") -> Turn:
        """Return the turn of a message with which a session begins; nobody notes that."""
        message = Turn(text, speaker, Clock().now(), first=True)
        return session_turn(self._of(channel), message)

    def in_notes(self, channel: str, query: str, count: int, filters: Filters) -> list[SearchHit]:
        """Return what a channel's notes have to say to a question as it stands, best first."""
        return hits_in_notes(self._of(channel), query, Clock().now(), count, filters)

    def _of(self, channel: str) -> RecallService:
        if channel not in self._open:
            self._open[channel] = recall_service_of(
                self._chosen.channel(channel),
                self._settings,
                self._vocabulary,
                self._embeddings,
                count=self._count,
                report=note,
            )
        return self._open[channel]
