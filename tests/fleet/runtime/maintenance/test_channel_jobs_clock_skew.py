"""Two hosts whose wall clocks are minutes apart talk, learn and close a day in one channel."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from pipimem import Message, Pipimem
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.testing import FixedClock

pytestmark = pytest.mark.anyio

_ZONE = timezone(timedelta(hours=8))
_EVENING = datetime(2026, 3, 2, 20, 40, tzinfo=_ZONE)
_MINUTES = timedelta(minutes=10)
_SAID = (
    "we decided to move the release to Thursdays",
    "we decided to move the review to Mondays",
    "we decided to rotate the on-call duty weekly",
    "we decided to move the stand-up to noon",
    "we decided to rotate the kitchen duty daily",
    "we decided to rotate the keys every month",
)
_MORNING = "we decided to buy a second kettle"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class _Hosts:
    """Two hosts on one workspace; the second one's clock is `skew` off."""

    def __init__(self, root: Path, skew: timedelta, name: str) -> None:
        self.name = name
        self.clocks = (FixedClock(_EVENING), FixedClock(_EVENING + skew))
        self.bots = [Pipimem(root, "offline", clock=clock) for clock in self.clocks]
        self.channels: list[Channel] = []

    async def open(self) -> None:
        """Opens the channel on both."""
        self.channels = [await bot.channel(self.name, kind="group") for bot in self.bots]

    def pass_time(self, delta: timedelta) -> None:
        """Time passes on both."""
        for clock in self.clocks:
            clock.advance(delta)

    async def say(self, host: int, text: str) -> None:
        """A turn on one of them."""
        channel = self.channels[host]
        turn = await channel.before_turn(text, speaker="Dana")
        await channel.after_turn(
            turn, [Message.user(text, speaker="Dana"), Message.assistant("ok")]
        )


async def _two_days(root: Path, skew: timedelta, name: str = "team") -> _Hosts:
    """An evening's talk by turns on both hosts, learnt by the second, closed by the first."""
    hosts = _Hosts(root, skew, name)
    await hosts.open()
    for number, text in enumerate(_SAID):
        await hosts.say(number % 2, text)
        hosts.pass_time(timedelta(minutes=5))
    await upkeep_of(hosts.channels[1]).maintain(forced=True)
    hosts.pass_time(timedelta(hours=12))
    await hosts.say(1, _MORNING)
    await upkeep_of(hosts.channels[0]).maintain(forced=True)
    hosts.pass_time(timedelta(days=1))
    await upkeep_of(hosts.channels[1]).maintain(forced=True)
    return hosts


def _days(hosts: _Hosts) -> list[tuple[str, list[str]]]:
    """The blocks of HISTORY.md as both hosts read them: the day, and the lines by the alphabet."""
    one, two = (upkeep_of(channel).store.notes().history.text for channel in hosts.channels)
    assert one == two
    blocks = [block.splitlines() for block in one.split("## ")[1:]]
    return [
        (_DATE.findall(head)[0], sorted(line for line in lines if line.startswith("- ")))
        for head, *lines in blocks
    ]


@pytest.mark.parametrize("skew", [_MINUTES, -_MINUTES], ids=["ahead", "behind"])
async def test_order_and_dates_are_as_with_one_clock(root: Path, skew: timedelta) -> None:
    """Messages and records stand in the order in which they came, whatever times they have; each
    line of history once, under the day on which it was said."""
    hosts = await _two_days(root, skew)
    store = upkeep_of(hosts.channels[0]).store
    messages = list(store.transcript.messages())
    assert [message.content for message in messages[::2]] == [*_SAID, _MORNING]
    assert [message.number for message in messages] == list(range(1, len(messages) + 1))
    assert len({message.id for message in messages}) == len(messages)
    times = [message.time for message in messages if message.time]
    assert times != sorted(times)  # the clocks were apart
    records = list(store.changes())
    assert [record.sequence for record in records] == list(range(1, len(records) + 1))
    days = _days(hosts)
    assert days == _days(await _two_days(root, timedelta(), "one-clock"))
    assert [day for day, _ in days] == ["2026-03-02", "2026-03-03"]
    assert {_SAID.index(line.split(": ")[1]) % 2 for line in days[0][1]} == {0, 1}  # of both hosts


async def test_a_clock_that_is_a_day_off_shows_in_the_dates(root: Path) -> None:
    """What the test before is worth: a wrong clock is not hidden by what is compared."""
    days = _days(await _two_days(root, timedelta(days=1)))
    assert days != _days(await _two_days(root, timedelta(), "one-clock"))
