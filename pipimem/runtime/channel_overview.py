"""All channels of a workspace by the page: found, sorted, and how those of the page stand."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from pipimem.clock import Clock
from pipimem.errors import ArgumentError, StoreError, require_one_of, require_type
from pipimem.runtime.channel_status import ChannelStatus, channel_status
from pipimem.runtime.usage_sums import UsageSum, usage_sums
from pipimem.settings import Settings
from pipimem.store.disk import presence
from pipimem.store.disk.syscalls import store_errors
from pipimem.store.schedule import channel_stamp
from pipimem.store.transcript.reader import last_said
from pipimem.store.workspace import ChannelInfo, WorkspaceStore
from pipimem.text.markdown.lines import white_folded
from pipimem.text.private import without_private
from pipimem.text.secrets import redacted

_ARROW = "=>"
_COMMAS = (",", "，")


def add_required_question(
    workspace: WorkspaceStore, settings: Settings, question: str, words: Sequence[str] = ()
) -> bool:
    """Add a question, and the words that must be found for it; whether it was not there yet.

    Idle work then refuses a tidying after which they are not found. Call it for a person alone: the
    file is theirs. Raises `ArgumentError` for what no line of the file can say, and for a secret.
    """
    require_type(question, str, "question")
    line = _line(white_folded(question), [white_folded(word) for word in words])
    if redacted(without_private(line, settings.private), own=settings.secrets) != line:
        raise ArgumentError("It has a secret or a private stretch in it, and the file is kept.")
    return workspace.add_required_question(line)


def _line(question: str, words: Sequence[str]) -> str:
    """The line of the file. Raises `ArgumentError`."""
    if not question or question.startswith("#") or _ARROW in question:
        raise ArgumentError("The question is empty, begins with # or has => in it: reword it.")
    for word in words:
        if not word or any(comma in word for comma in _COMMAS):
            raise ArgumentError("Give words without commas, none of them empty.")
    return f"{question} {_ARROW} {', '.join(words)}" if words else question


Order = Literal["talk", "name", "cost"]
ORDERS: tuple[Order, ...] = get_args(Order)

# How channels stand takes ten milliseconds each: so long a page may take over it, in seconds. What
# is left is known when the page is asked for again.
_PATIENCE = 0.08
_KEPT_STATUSES = 2_000
# Costs of the day are read again after so many seconds.
_COSTS_EVERY = 5.0
_LOG = "log.jsonl"
# Looking through 20,000 folders takes a third of a second: what takes longer than `_QUICK` is done
# after the page, which then shows what was there at most `_OLDEST` seconds ago.
_QUICK = 0.04
_FRESH = 1.0
_OLDEST = 600.0


class _Talk(NamedTuple):
    """When a transcript was written, in nanoseconds, when its newest message was said, in seconds,
    and in which zone; without one where only the time of writing is known.
    """

    written: int
    said: float
    zone: tzinfo | None = None

    @property
    def time(self) -> datetime | None:
        """When somebody last talked, as the talk itself tells it; `None` for never."""
        if not self.said:
            return None
        if self.zone is None:
            return datetime.fromtimestamp(self.said, UTC).astimezone()
        return datetime.fromtimestamp(self.said, self.zone)


_NEVER = _Talk(0, 0.0)


class OverviewRow(Struct, frozen=True):
    """One channel: when somebody last talked, how it stands, what models cost it today.

    `status` is `None` where the page had no time to find out.
    """

    info: ChannelInfo
    talked: datetime | None
    status: ChannelStatus | None
    today: UsageSum | None


class OverviewPage(Struct, frozen=True):
    """A page of channels, of `total` that were found; `today` is what the whole workspace cost.

    `is_old`: there are so many that they were not looked through again; `refresh` does it.
    """

    rows: tuple[OverviewRow, ...]
    total: int
    begin: int
    today: UsageSum | None
    is_old: bool = False


@dataclass(slots=True)
class ChannelOverview:
    """The channels of a workspace; what was read is kept until it is another one."""

    store: WorkspaceStore
    clock: Clock
    _infos: dict[str, ChannelInfo | None] = field(default_factory=dict)
    # By folder.
    _talked: dict[str, _Talk] = field(default_factory=dict)
    # When all were looked through, and how long that took, in seconds.
    _looked: float = -_OLDEST
    _took: float = 0.0
    _statuses: OrderedDict[str, tuple[str, ChannelStatus]] = field(default_factory=OrderedDict)
    _costs: tuple[float, dict[str, UsageSum], UsageSum | None] = (0.0, {}, None)
    _reading: Lock = field(default_factory=Lock)

    def page(
        self, words: str = "", *, order: Order = "talk", begin: int = 0, count: int = 25
    ) -> OverviewPage:
        """The channels with some words in their id or title, those of the newest talk first.

        Or by their names, or those first that cost most today. Raises `StoreError`.
        """
        require_one_of(order, ORDERS, "order")
        with self._reading:
            age = self._look_if_quick()
            found = self._found(words.casefold())
            costs, whole = self._today()
            found.sort(key=_ORDER[order])
            if order == "cost":
                found.sort(key=lambda one: -_money(costs.get(one[1].id)))
            until = time.monotonic() + _PATIENCE
            rows = [
                OverviewRow(info, talk.time, self._status(info, until), costs.get(info.id))
                for talk, info in found[begin : begin + count]
            ]
        is_old = _FRESH < age <= _OLDEST and self._took >= _QUICK
        return OverviewPage(tuple(rows), len(found), begin, whole, is_old)

    def newest(self, count: int) -> dict[str, str]:
        """The channels of the newest talk: their ids, each with its title.

        Raises `StoreError`.
        """
        with self._reading:
            self._look_if_quick()
            found = sorted(self._found(""), key=_ORDER["talk"])
        return {info.id: info.title for _, info in found[:count]}

    def refresh(self) -> None:
        """Look through all channels again, unless that was done just now. Raises `StoreError`."""
        with self._reading:
            if time.monotonic() - self._looked > _FRESH:
                self._look()

    def _look_if_quick(self) -> float:
        """Look through all channels where that is quick or long ago; how old the last look was."""
        age = time.monotonic() - self._looked
        if age > _OLDEST or self._took < _QUICK:
            self._look()
        return age

    def _look(self) -> None:
        """Find the channels, and when somebody last talked in each."""
        began, top = time.monotonic(), self.store.channels_folder
        with store_errors("read", top):
            names = [entry.name for entry in os.scandir(top)] if presence.is_folder(top) else []
        self._infos = {name: self._infos.get(name) or self._info(name) for name in names}
        self._talked = {
            name: _talked(f"{top}/{name}/{_LOG}", self._talked.get(name, _NEVER)) for name in names
        }
        self._looked = time.monotonic()
        self._took = self._looked - began

    def _found(self, words: str) -> list[tuple[_Talk, ChannelInfo]]:
        """The channels with the words, each with its newest talk."""
        found = []
        for name, info in self._infos.items():
            if info and (not words or words in f"{info.id}\n{info.title}".casefold()):
                found.append((self._talked[name], info))
        return found

    def _info(self, folder: str) -> ChannelInfo | None:
        return self.store.channel_in(folder)

    def _status(self, info: ChannelInfo, until: float) -> ChannelStatus | None:
        """How a channel stands; `None` where that is not known yet and the time is over."""
        name, mark = info.folder.name, channel_stamp(info.folder).mark
        kept, status = self._statuses.get(name, ("", None))
        if status is not None and (kept == mark or time.monotonic() > until):
            return status
        if time.monotonic() > until:
            return None
        status = channel_status(self.store, info, self.clock.now())
        self._statuses[name] = mark, status
        self._statuses.move_to_end(name)
        if len(self._statuses) > _KEPT_STATUSES:
            self._statuses.popitem(last=False)
        return status

    def _today(self) -> tuple[dict[str, UsageSum], UsageSum | None]:
        """What models cost since midnight, by channel and all together."""
        read, costs, whole = self._costs
        if not read or time.monotonic() - read > _COSTS_EVERY:
            midnight = self.clock.wall().replace(hour=0, minute=0, second=0, microsecond=0)
            calls = self.store.usages(midnight)
            costs = usage_sums(calls, "channel")
            whole = next(iter(usage_sums(calls, "day").values()), None)
            self._costs = time.monotonic(), costs, whole
        return costs, whole


def _talked(log: str, known: _Talk) -> _Talk:
    """The newest talk of a transcript; what is `known` where nothing was written since."""
    try:
        # For each of 20,000 channels: a Path would double the time.
        written = os.stat(log).st_mtime_ns  # noqa: PTH116 - see above
        if written == known.written:
            return known
        said = last_said(Path(log))
    except (OSError, StoreError):
        return _NEVER
    if said is None:
        return _Talk(written, written / 1e9)
    return _Talk(written, said.timestamp(), said.tzinfo)


def _money(cost: UsageSum | None) -> float:
    return cost.known_cost + cost.estimated_cost if cost is not None else 0.0


# Of equal costs the newest talk comes first.
_ORDER: dict[str, Callable[[tuple[_Talk, ChannelInfo]], tuple[float, str]]] = {
    "talk": lambda one: (-one[0].said, one[1].id),
    "name": lambda one: (0, (one[1].title or one[1].id).casefold()),
    "cost": lambda one: (-one[0].said, one[1].id),
}
