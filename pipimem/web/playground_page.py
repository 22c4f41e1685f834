"""Why the bot knew something: a message as a turn would take it, with every score taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem import Candidate, Item
from pipimem.runtime.channel_overview import ChannelOverview, add_required_question
from pipimem.runtime.recall_preview import TurnPreview
from pipimem.text.token_count import estimate
from pipimem.web.charts import Bar, score_bar
from pipimem.web.pages import Pages, url_of_item
from pipimem.web.request_fields import json_object, matched, text_of

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel

_MOST_BELOW = 8
# So many are offered to choose from; another one is typed.
_MOST_CHANNELS = 50
# What `recall.ranking` calls the nearness of meaning among the parts of a score.
_MEANING = "near in meaning"


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate as the page shows it; `outcome` is why it is shown to the bot or is not.

    `more` is the page that says why it is there. It `is_newer` than one behind it that scores
    higher: of two on one subject the newer comes first.
    """

    rank: int
    item: Item
    section: str
    text: str
    score: float
    outcome: str
    bar: Bar
    more: str
    is_newer: bool = False


class PlaygroundPage:
    """`/playground`: a form and what a turn would show; `POST` keeps the question."""

    def __init__(self, pages: Pages, overview: ChannelOverview) -> None:
        self._pages = pages
        self._overview = overview

    def routes(self) -> list[Route]:
        """The page, and what keeps a question in `recall.must`."""
        return [
            Route("/playground", self._page, methods=["GET"]),
            Route("/playground/question", self._keep, methods=["POST"]),
        ]

    async def _page(self, request: Request) -> Response:
        channel, said = await self._pages.channel(request), request.query_params
        text, speaker = said.get("text", ""), said.get("speaker", "").strip()
        first = said.get("first", "") == "1"
        preview: TurnPreview | None = None
        candidates: Sequence[ShownCandidate] = ()
        below: Sequence[ShownCandidate] = ()
        if text.strip():
            preview = await channel.preview_turn(text, speaker=speaker, first=first)
            rows = CandidateRows(channel, preview, self._pages.pipimem.settings.recall.inject)
            candidates, below = rows.ranked(), rows.below()
        return self._pages.rendered(
            request,
            "playground.html",
            channel=channel.id,
            text=text,
            speaker=speaker,
            first=first,
            preview=preview,
            candidates=candidates,
            below=below,
            most=self._pages.pipimem.settings.recall.inject,
            shown=channel.notes.shown,
            estimate=estimate,
            keeps=self._pages.only is None,
            others=await self._channels(),
        )

    async def _channels(self) -> dict[str, str]:
        """The channels of the newest talk, to choose from; none where one alone is shown."""
        if self._pages.only is not None:
            return {}
        return await to_thread.run_sync(self._overview.newest, _MOST_CHANNELS)

    async def _keep(self, request: Request) -> Response:
        """Keep a question for the whole workspace; a person asks for it, and nobody else."""
        if self._pages.only is not None:
            raise HTTPException(403, "Questions are kept for the whole workspace.")
        if matched(request) != "*":
            raise HTTPException(412, "A new question stands beside whatever there is: If-Match: *")
        fields = await json_object(request)
        words = [word for word in text_of(fields, "words").split(",") if word.strip()]
        pipimem = self._pages.pipimem
        is_new = await to_thread.run_sync(
            add_required_question, pipimem.store, pipimem.settings, text_of(fields, "text"), words
        )
        return JSONResponse({"added": is_new})


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """The candidates of a preview as rows; the bars of all have one scale."""

    channel: Channel
    preview: TurnPreview
    # So many entries are shown at most.
    most: int

    def ranked(self) -> Sequence[ShownCandidate]:
        """Those that were ranked for the turn."""
        rows: list[ShownCandidate] = []
        highest = 0.0  # of those behind
        for rank, one in reversed(list(enumerate(self._candidates(), 1))):
            is_newer = one.score < highest
            rows.insert(0, self._row(rank, one, self._outcome(one), is_newer=is_newer))
            highest = max(highest, one.score)
        return rows

    def below(self) -> Sequence[ShownCandidate]:
        """What shares a word and was not looked at further."""
        first = len(self._candidates()) + 1
        found = self.preview.below[:_MOST_BELOW]
        return [self._row(rank, one, "below") for rank, one in enumerate(found, first)]

    def _candidates(self) -> Sequence[Candidate]:
        found = self.preview.turn.recall
        return found.candidates if found is not None else ()

    def _outcome(self, one: Candidate) -> str:
        """Why the bot is shown it, or is not."""
        found = self.preview.turn.recall
        shown = found.ids if found is not None else ()
        if one.item.id in shown:
            return "shown"
        if one.item.id in self.preview.turn.shown:
            return "above"
        return "over" if len(shown) >= self.most else "no_room"

    def _row(
        self, rank: int, one: Candidate, outcome: str, *, is_newer: bool = False
    ) -> ShownCandidate:
        scores = [each.score for each in (*self._candidates(), *self.preview.below)]
        shown = self.channel.notes.shown
        section = shown(one.item.section)
        return ShownCandidate(
            rank,
            one.item,
            section,
            shown(one.item.text),
            one.score,
            outcome,
            score_bar(self._parts(one), max(scores)),
            url_of_item(self.channel.id, one.item, section),
            is_newer,
        )

    def _parts(self, one: Candidate) -> list[tuple[str, float, str]]:
        """What its score is made of: words as they were written, each with its sort."""
        circumstances = {name for name, _ in one.circumstances}
        return [
            (self.preview.written.get(name, name), value, _sort_of(name, circumstances))
            for name, value in one.parts
        ]


def _sort_of(name: str, circumstances: set[str]) -> str:
    """Evidence by word, by meaning, or by structure."""
    if name in circumstances:
        return "structure"
    return "meaning" if name == _MEANING else "word"
