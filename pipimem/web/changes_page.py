"""The pages of time: the changes of a channel, one of them, the notes as they stood on a day."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.errors import CannotTakeBack, NothingFound, PipimemError
from pipimem.notes.files import NOTE_FILES, File
from pipimem.notes.operations import Author, Change
from pipimem.runtime.channel_history import LoggedChange
from pipimem.web.line_diff import DiffLine, diff_lines
from pipimem.web.pages import Pages
from pipimem.web.request_fields import day_of, json_object, matched, number_of

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel

_ON_A_PAGE = 30
_FileDiffs = dict[File, list[DiffLine]]


class ChangesPage:
    """`/changes`, `/change` with its undo, and `/then`."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The three pages and the undo."""
        return [
            Route("/changes", self._timeline, methods=["GET"]),
            Route("/change", self._change, methods=["GET"]),
            Route("/change/undo", self._undo, methods=["POST"]),
            Route("/then", self._then, methods=["GET"]),
        ]

    async def _timeline(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        before = number_of(request, "before", 0) or None
        found = await channel.history.log(_ON_A_PAGE + 1, before=before)
        author = _author(request)
        shown = [_masked(one, channel.files.shown) for one in found[:_ON_A_PAGE]]
        return self._pages.rendered(
            request,
            "changes.html",
            channel=channel.id,
            days=_by_day(one for one in shown if author in ("", one.author)),
            author=author,
            authors=list(Author),
            older=found[_ON_A_PAGE - 1].number if len(found) > _ON_A_PAGE else None,
            by_hand=await _not_logged(channel) if before is None else False,
        )

    async def _change(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        change = await channel.history.change(number_of(request, "number", 0))
        (newest,) = await channel.history.log(1)
        did, problem = await _told(_did(channel, change.number))
        undo, why_not = await _told(_undone(channel, change.number))
        return self._pages.rendered(
            request,
            "change.html",
            channel=channel.id,
            change=_masked(change, channel.files.shown),
            did=did,
            problem=problem,
            undo=undo,
            why_not=channel.files.shown(why_not),
            newest=newest.number,
        )

    async def _undo(self, request: Request) -> Response:
        """Take a change back; If-Match names the newest change, on which the preview rests."""
        channel, fields = await self._pages.channel(request), await json_object(request)
        number = fields.get("number")
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise HTTPException(400, "number must be that of a change.")
        (newest,) = await channel.history.log(1)
        if matched(request) != str(newest.number) or await _not_logged(channel):
            words = self._pages.texts(request)["changes"]["moved_on"]
            return JSONResponse({"problem": words}, 412)
        done = await channel.history.undo(number)
        return JSONResponse({"number": done.number})

    async def _then(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        day = day_of(request, "day")
        texts: Mapping[File, str] = {}
        problem = ""
        if day is not None:
            texts, problem = await _texts_at_end_of(channel, day)
        return self._pages.rendered(
            request,
            "then.html",
            channel=channel.id,
            day=day.isoformat() if day else "",
            texts=texts,
            problem=problem,
        )


def _author(request: Request) -> str:
    author = request.query_params.get("author", "")
    if author and author not in list(Author):
        raise HTTPException(400, "There is no such author.")
    return author


def _masked(one: LoggedChange, shown: Callable[[str], str]) -> LoggedChange:
    """A change as it may be shown."""

    def masked(change: Change) -> Change:
        return replace(
            change,
            section=shown(change.section),
            before=shown(change.before),
            after=shown(change.after),
            reason=shown(change.reason),
        )

    return replace(
        one,
        actor=shown(one.actor),
        why=shown(one.why),
        changes=tuple(map(masked, one.changes)),
        refused=tuple(map(shown, one.refused)),
    )


def _by_day(changes: Iterable[LoggedChange]) -> dict[str, list[LoggedChange]]:
    days: dict[str, list[LoggedChange]] = {}
    for one in changes:
        days.setdefault(one.time[:10], []).append(one)
    return days


async def _not_logged(channel: Channel) -> bool:
    """Whether something was edited by hand that is in no change yet."""
    newest = await channel.history.log(1)
    if not newest:
        return False
    try:
        return await channel.history.texts(newest[0].number) != await channel.history.texts()
    except PipimemError:
        return False


async def _did(channel: Channel, number: int) -> _FileDiffs:
    """What a change did to each file."""
    before = await channel.history.texts(number - 1)
    return _differences(channel, before, await channel.history.texts(number))


async def _undone(channel: Channel, number: int) -> _FileDiffs:
    """What an undo of it would do now."""
    current = await channel.history.texts()
    return _differences(channel, current, await channel.history.without(number))


def _differences(
    channel: Channel, before: Mapping[File, str], after: Mapping[File, str]
) -> _FileDiffs:
    shown = channel.files.shown
    return {
        file: diff_lines(shown(before[file]), shown(after[file]))
        for file in NOTE_FILES
        if file in after and before[file] != after[file]
    }


async def _told(found: Awaitable[_FileDiffs]) -> tuple[_FileDiffs, str]:
    """What is found, or why nothing is."""
    try:
        return await found, ""
    except (CannotTakeBack, NothingFound) as error:
        return {}, str(error)


async def _texts_at_end_of(channel: Channel, day: date) -> tuple[Mapping[File, str], str]:
    """The files as the day left them, as they may be shown; or why nobody knows."""
    midnight = datetime.combine(day + timedelta(days=1), time.min, channel.time_zone)
    try:
        texts = await channel.history.texts(midnight - timedelta(microseconds=1))
    except (CannotTakeBack, NothingFound) as error:
        return {}, str(error)
    return {file: channel.files.shown(text) for file, text in texts.items()}, ""
