"""The pages of time: the changes of a channel, one of them, the notes as they stood on a day."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipimem.errors import CannotTakeBack, NothingFound, PipimemError
from pipimem.notes.kinds import NOTE_FILES, File
from pipimem.notes.operations import Author, Change
from pipimem.runtime.history import LoggedChange
from pipimem.text.markdown.line_edits import changed_lines
from pipimem.text.markdown.lines import split_lines, without_ending
from pipimem.web.markdown import plain
from pipimem.web.pages import Pages
from pipimem.web.request_fields import day_of, json_object, matched, number_of

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel


_AROUND = 2
# Beyond so many lines a diff is no reading any more; the rest is counted.
_MOST_LINES = 400
# Comparing words is quadratic: longer lines are shown as one that went and one that came.
_LONGEST_LINE = 2_000
# A Han character is a word; others are runs of letters, of blanks, and single signs.
_WORDS = re.compile(r"[\u3400-\u9fff]|\w+?(?=[\u3400-\u9fff])|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line: `same`, `gone` or `came`; or `gap`, where so many lines are left out."""

    kind: str
    html: Markup


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The lines of a diff; empty for texts that say the same, whatever their line ends."""
    old = [without_ending(line) for line in split_lines(before)]
    new = [without_ending(line) for line in split_lines(after)]
    changes = list(changed_lines(old, new))
    found: list[DiffLine] = []
    shown = 0  # so many lines of the old text are told of
    for place, change in enumerate(changes):
        begin = max(shown, change.low - _AROUND)
        if begin > shown:
            found.append(DiffLine("gap", plain(f"⋯ {begin - shown}")))
        found += [_line("same", line) for line in old[begin : change.low]]
        found += _replaced(old[change.low : change.high], new[change.start : change.end])
        following = changes[place + 1].low if place + 1 < len(changes) else len(old)
        shown = min(following, change.high + _AROUND)
        found += [_line("same", line) for line in old[change.high : shown]]
    if changes and shown < len(old):
        found.append(DiffLine("gap", plain(f"⋯ {len(old) - shown}")))
    return _cut(found)


def _replaced(gone: Sequence[str], came: Sequence[str]) -> Iterator[DiffLine]:
    """Lines that went, then those that came; where they pair, the words that differ are marked."""
    if len(gone) != len(came) or any(len(line) > _LONGEST_LINE for line in (*gone, *came)):
        yield from (_line("gone", line) for line in gone)
        yield from (_line("came", line) for line in came)
        return
    for old, new in zip(gone, came, strict=True):
        marked = _marked(old, new)
        yield DiffLine("gone", marked[0])
        yield DiffLine("came", marked[1])


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    gone, came = Markup(), Markup()
    for each in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        kind, low, high, start, end = each
        gone += _word(before[low:high], kind)
        came += _word(after[start:end], kind)
    return gone, came


def _word(parts: Sequence[str], kind: str) -> Markup:
    words = plain("".join(parts))
    return words if kind == "equal" or not parts else Markup("<mark>{}</mark>").format(words)


def _line(kind: str, text: str) -> DiffLine:
    return DiffLine(kind, plain(text))


def _cut(lines: list[DiffLine]) -> list[DiffLine]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], DiffLine("gap", plain(f"⋯ {len(lines) - _MOST_LINES}"))]


_ON_A_PAGE = 30
# So many changes are looked through for a page of some of them.
_MOST_READ = 1_000
_FileDiffs = dict[File, list[DiffLine]]


class ChangesPage:
    """`/changes`, `/change` with its undo, `/notes-on-day`, and `/left-out` with its take-in."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The four pages, the undo and the take-in."""
        return [
            Route("/changes", self._timeline, methods=["GET"]),
            Route("/change", self._change, methods=["GET"]),
            Route("/change/undo", self._undo, methods=["POST"]),
            Route("/notes-on-day", self._notes_on_day, methods=["GET"]),
            Route("/left-out", self._left_out, methods=["GET"]),
            Route("/left-out/take", self._take_in, methods=["POST"]),
        ]

    async def _timeline(self, request: Request) -> Response:
        channel, wanted = await self._pages.channel(request), _wanted(request)
        before = number_of(request, "before", 0) or None
        found, older = await _newest(channel, wanted, before)
        return self._pages.rendered(
            request,
            "changes.html",
            channel=channel.id,
            days=_by_day(found),
            wanted=wanted,
            authors=list(Author),
            older=older,
            by_hand=await _not_logged(channel) if before is None else False,
        )

    async def _change(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        change = await channel.history.change(number_of(request, "number", 0))
        (newest,) = await channel.history.log(1)
        did, problem = await _diffs_or_problem(_changed_by(channel, change.number))
        undo, why_not = await _diffs_or_problem(_changed_by_undo(channel, change.number))
        return self._pages.rendered(
            request,
            "change.html",
            channel=channel.id,
            change=_masked(change, channel.notes.shown),
            did=did,
            problem=problem,
            undo=undo,
            why_not=channel.notes.shown(why_not),
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

    async def _left_out(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        found = await channel.notes.left_out()
        return self._pages.rendered(
            request, "left_out.html", channel=channel.id, items=tuple(reversed(found))
        )

    async def _take_in(self, request: Request) -> Response:
        """Write a left-out item after all; If-Match names its time, by which it is still that."""
        channel, fields = await self._pages.channel(request), await json_object(request)
        number = fields.get("number")
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise HTTPException(400, "number must be that of an item.")
        known = {item.number: item.time for item in await channel.notes.left_out()}
        if matched(request) != known.get(number):
            words = self._pages.texts(request)["changes"]["moved_on"]
            return JSONResponse({"problem": words}, 412)
        done = await channel.notes.take_in(number)
        if done.refused:
            raise PipimemError(done.refused[0])
        return JSONResponse({"number": number})

    async def _notes_on_day(self, request: Request) -> Response:
        channel = await self._pages.channel(request)
        day, today = day_of(request, "day"), datetime.now(channel.time_zone).date()
        texts: Mapping[File, str] = {}
        problem = ""
        if day is not None and day > today:
            problem = self._pages.texts(request)["changes"]["to_come"]
        elif day is not None:
            texts, problem = await _texts_at_end_of(channel, day)
        return self._pages.rendered(
            request,
            "notes_on_day.html",
            channel=channel.id,
            day=day.isoformat() if day else "",
            today=today.isoformat(),
            texts=texts,
            problem=problem,
        )


@dataclass(frozen=True, slots=True)
class WantedChanges:
    """Which changes are meant: of an author, with these words; by default all of them."""

    author: str = ""
    words: str = ""

    def __bool__(self) -> bool:
        return self != WantedChanges()

    def has(self, one: LoggedChange) -> bool:
        """Whether a change is meant: its texts, its reason or who made it have all the words."""
        if self.author and self.author != one.author:
            return False
        whole = "\n".join([one.actor, one.why, *map(_texts, one.changes)]).casefold()
        return all(word in whole for word in self._words())

    def first(self, one: LoggedChange) -> LoggedChange:
        """The change with those of its parts first that have one of the words."""
        if not self.words:
            return one
        parts = sorted(one.changes, key=lambda part: not self._names(part))
        return replace(one, changes=tuple(parts))

    def _words(self) -> list[str]:
        return self.words.casefold().split()

    def _names(self, part: Change) -> bool:
        text = _texts(part).casefold()
        return any(word in text for word in self._words())


def _texts(part: Change) -> str:
    """What a part of a change says; of a section's lines those that came and went."""
    lines = set(part.before.splitlines()) ^ set(part.after.splitlines())
    return "\n".join([part.section, part.reason, *(lines or [part.after])])


def _wanted(request: Request) -> WantedChanges:
    author = request.query_params.get("author", "")
    if author and author not in list(Author):
        raise HTTPException(400, "There is no such author.")
    return WantedChanges(author, request.query_params.get("words", "").strip())


async def _newest(
    channel: Channel, wanted: WantedChanges, before: int | None
) -> tuple[list[LoggedChange], int | None]:
    """The newest changes that are meant, as they may be shown; and before which number to go on.

    At most `_MOST_READ` are looked through for one page.
    """
    count = _MOST_READ if wanted else _ON_A_PAGE + 1
    found = await channel.history.log(count, before=before)
    meant: list[LoggedChange] = []
    for one in found:
        if len(meant) == _ON_A_PAGE:
            return meant, meant[-1].number
        masked = _masked(one, channel.notes.shown)
        if wanted.has(masked):
            meant.append(wanted.first(masked))
    return meant, found[-1].number if len(found) == count else None


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


async def _changed_by(channel: Channel, number: int) -> _FileDiffs:
    """What a change did to each file."""
    before = await channel.history.texts(number - 1)
    return _differences(channel, before, await channel.history.texts(number))


async def _changed_by_undo(channel: Channel, number: int) -> _FileDiffs:
    """What an undo of it would do now."""
    current = await channel.history.texts()
    return _differences(channel, current, await channel.history.without(number))


def _differences(
    channel: Channel, before: Mapping[File, str], after: Mapping[File, str]
) -> _FileDiffs:
    shown = channel.notes.shown
    return {
        file: diff_lines(shown(before[file]), shown(after[file]))
        for file in NOTE_FILES
        if file in after and before[file] != after[file]
    }


async def _diffs_or_problem(found: Awaitable[_FileDiffs]) -> tuple[_FileDiffs, str]:
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
    return {file: channel.notes.shown(text) for file, text in texts.items()}, ""
