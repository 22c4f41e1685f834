"""What was said in a channel: the transcript by the page, a search in it, the talk around a hit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipimem import Item, SearchHit, Source
from pipimem.errors import NothingFound
from pipimem.notes.message import Role
from pipimem.text.characters import HAN
from pipimem.web.markdown import plain
from pipimem.web.pages import Pages, url_of_item
from pipimem.web.request_fields import day_of, number_of

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel


# Of a Latin word its beginning counts, so that "deploys" marks "deployed".
_ENDING = 3
_LEAST = 3
_LATIN = re.compile(rf"[^\W_{HAN}]+")
_HAN = re.compile(rf"[{HAN}]+")
# A longer text is cut there, as `plain` would.
_MOST_CHARS = 20_000
_NOTHING = re.compile(r"(?!)()")


class Highlighter:
    """Marks the words of a query in a text, and makes HTML of it that can do nothing."""

    def __init__(self, query: str) -> None:
        words = [_beginning(word) for word in _LATIN.findall(query)]
        for run in _HAN.findall(query):
            words += [re.escape(run[at : at + 2]) for at in range(max(1, len(run) - 1))]
        pattern = "|".join(sorted(set(words), key=len, reverse=True))
        # Looked for at each place: pairs of characters that overlap are all found.
        self._words = re.compile(f"(?=({pattern}))", re.IGNORECASE) if pattern else _NOTHING

    def __call__(self, text: str) -> Markup:
        """The text with its words in `<mark>`; neighbours share one."""
        parts: list[Markup] = []
        end = 0
        found = self._words.finditer(text, 0, _MOST_CHARS)
        for begin, stop in _joined([one.span(1) for one in found]):
            parts.append(plain(text[end:begin]))
            parts.append(Markup("<mark>{}</mark>").format(plain(text[begin:stop])))
            end = stop
        parts.append(plain(text[end:]))
        return Markup("").join(parts)


def _beginning(word: str) -> str:
    if len(word) <= _LEAST:
        return rf"\b{re.escape(word)}\b"
    return rf"\b{re.escape(word[: max(_LEAST, len(word) - _ENDING)])}\w*"


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch as one."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


Where = Literal["all", "notes", "log"]
_HITS = 30
# A page of the transcript; the script of the page adds the next ones when they come into view.
_MESSAGES = 100
_AROUND = 5


@dataclass(frozen=True, slots=True)
class TalkQuery:
    """What the form of the page says."""

    q: str
    where: Where
    speaker: str
    role: Role | None
    after: date | None
    before: date | None

    @property
    def filters(self) -> TalkFilters:
        """By whom, in which role and when, as a search and a page of the transcript take it."""
        return {
            "speaker": self.speaker,
            "role": self.role,
            "after": _midnight(self.after),
            "before": _midnight(self.before),
        }


class TalkFilters(TypedDict):
    """Which messages are meant."""

    speaker: str
    role: Role | None
    after: datetime | None
    before: datetime | None


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A hit as the page shows it: its words marked, the page that tells more of it, if any."""

    item: Item
    section: str
    text: Markup
    more: str
    also: int


class TalkPage:
    """`/talk`: newest messages, or what a search found; `/talk/around`: the talk around one."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The two pages."""
        return [
            Route("/talk", self._page, methods=["GET"]),
            Route("/talk/around", self._around, methods=["GET"]),
        ]

    async def _page(self, request: Request) -> Response:
        channel, asked = await self._pages.channel(request), _query_of(request)
        hits, page = None, None
        upto = number_of(request, "upto", 0, least=0)
        if asked.q.strip():
            hits = await _found(channel, asked)
        else:
            page = await channel.talk.page(upto or None, count=_MESSAGES, **asked.filters)
        return self._pages.rendered(
            request,
            "talk.html",
            channel=channel.id,
            asked=asked,
            wheres=get_args(Where),
            roles=get_args(Role),
            hits=hits,
            most=_HITS,
            page=page,
            is_newest=not upto,
            shown=channel.notes.shown,
            is_filtered=any(asked.filters.values()),
        )

    async def _around(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        message = request.query_params.get("message", "")
        try:
            items = await channel.talk.timeline(message, around=_AROUND)
        except NothingFound as error:
            raise HTTPException(404, self._pages.texts(request)["talk"]["gone"]) from error
        return self._pages.rendered(
            request,
            "talk_around.html",
            channel=channel.id,
            message=message,
            items=items,
            q=request.query_params.get("q", ""),
            shown=channel.notes.shown,
        )


def _query_of(request: Request) -> TalkQuery:
    """The form. Raises `HTTPException` for what it cannot say."""
    said = request.query_params
    where, role = said.get("where") or "all", said.get("role") or None
    if where not in get_args(Where) or (role is not None and role not in get_args(Role)):
        raise HTTPException(400, "There is no such place or role.")
    return TalkQuery(
        said.get("q", ""),
        where,  # type: ignore[arg-type]
        said.get("speaker", "").strip(),
        role,  # type: ignore[arg-type]
        day_of(request, "after"),
        day_of(request, "before"),
    )


async def _found(channel: Channel, asked: TalkQuery) -> Sequence[ShownHit]:
    hits = await channel.talk.search(asked.q, count=_HITS, where=asked.where, **asked.filters)
    marked = Highlighter(asked.q)
    return [_shown(hit, marked, channel, asked.q) for hit in hits]


def _midnight(day: date | None) -> datetime | None:
    return datetime(day.year, day.month, day.day).astimezone() if day is not None else None


def _shown(hit: SearchHit, marked: Highlighter, channel: Channel, q: str) -> ShownHit:
    section = "" if hit.item.source == Source.LOG else channel.notes.shown(hit.item.section)
    text = marked(channel.notes.shown(hit.said))
    more = url_of_item(channel.id, hit.item, section, q=q)
    return ShownHit(hit.item, section, text, more, len(hit.also))
