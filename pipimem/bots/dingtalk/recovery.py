"""What a killed bot acknowledged and had not stored is taken in at the next start."""

from __future__ import annotations

import logging
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING

from anyio import to_thread

from pipimem.errors import ChannelError, NothingFound, PipimemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipimem.runtime.arrival_journal import Arrival, ArrivalJournal, ArrivalKey
    from pipimem.runtime.pipimem import Pipimem

_log = logging.getLogger("pipimem.dingtalk")


async def take_in_left(pipimem: Pipimem, journal: ArrivalJournal) -> None:
    """Store what the journal holds; it gets no answer. Raises `StoreError` where it is unreadable.

    What the disk refuses stays in the journal until the next start.
    """
    left = await to_thread.run_sync(journal.left)
    if not left:
        return
    over: list[ArrivalKey] = []
    for channel, arrivals in groupby(sorted(left, key=_channel), _channel):
        over += await _taken_in(pipimem, channel, list(arrivals))
    await to_thread.run_sync(journal.commit, (), over)


def _channel(one: Arrival) -> str:
    return one.channel


async def _taken_in(
    pipimem: Pipimem, channel: str, arrivals: Sequence[Arrival]
) -> list[ArrivalKey]:
    """Stores the arrivals of one channel; those that are over, none where the disk refuses."""
    said = [one for one in arrivals if not one.is_taken_back]
    one = (said or arrivals)[0]
    try:
        opened = await pipimem.channel(channel, kind=one.kind, title=one.title, create=bool(said))
        await opened.after_turn(None, [one.message for one in said])
        for one in arrivals:
            if one.is_taken_back:
                with suppress(NothingFound):
                    await opened.talk.retract(one.message.id)
    except ChannelError:
        pass  # nothing was ever said there
    except (PipimemError, OSError) as error:
        _log.error("%d messages of before are not stored yet: %s", len(said), error)
        return []
    _log.info("%d messages of before are stored", len(said))
    return [one.key for one in arrivals]
