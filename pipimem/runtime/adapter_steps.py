"""The steps that every adapter of an agent framework takes in the same way."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from pipimem.errors import ArgumentError, PipimemError, described
from pipimem.notes.message import Message
from pipimem.runtime.channel import Channel
from pipimem.runtime.tools.calls import refused
from pipimem.runtime.turns import Receipt, Turn

_log = logging.getLogger("pipimem")


def refuse_kept_context(channel: Channel, where: str) -> None:
    """Raises `ArgumentError` for a channel that keeps context.

    `where` says in what of the framework's the blocks do not stay: "in the history".
    """
    if channel.keeps_context:
        raise ArgumentError(
            "keeps_context must be off: what memory adds to a model's input here does not stay "
            f"{where}."
        )


async def stored(channel: Channel, turn: Turn | None, messages: Sequence[Message]) -> str:
    """Stores messages, and ends a turn if one is given; why the disk refused, else empty."""
    try:
        await channel.after_turn(turn, messages)
    except (PipimemError, OSError) as error:
        _log.warning("%s: not stored yet, %s", channel.id, described(error))
        return described(error)
    return ""


async def note_compacted(channel: Channel, receipt: Receipt) -> None:
    """Begins a new epoch; a disk that refuses stops no compaction that took place."""
    try:
        await channel.compacted(receipt)
    except (PipimemError, OSError) as error:
        _log.warning("%s: the compaction is not noted, %s", channel.id, described(error))


async def tool_text(channel: Channel, name: str, arguments: Mapping[str, Any] | str) -> str:
    """What a tool answers the model; also where the disk refuses, for it can do without."""
    try:
        return (await channel.call_tool(name, arguments)).text
    except PipimemError as error:
        return refused(error).text
