"""A moment in a channel's past, as people write it: a date, a time, or the number of a change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from pipimem.cli.times import Time
from pipimem.store.looking_back.past import Past, Point


class When(click.ParamType[Point]):
    """`2026-03-02`, `2026-03-02T09:00`, `yesterday`, or the number of a change; a date is the beginning of its day.

    An `exact` one takes no words: what is put back must not hang on how a word is read.
    """

    name = "time|seq"

    def __init__(self, *, exact: bool = False) -> None:
        self._time = Time(exact=exact)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Point:  # noqa: ANN401 - click's signature
        """The number or the time a text says."""
        if isinstance(value, int | datetime):
            return value
        return int(value) if str(value).isdecimal() and len(str(value)) < 8 else self._time.convert(value, param, ctx)


def worded(past: Past, sequence: int) -> str:
    """A moment for eyes: the change and its time."""
    found = next((one for one in past.records if one.sequence == sequence), None)
    return f"after change {sequence} ({found.time})" if found else "before the first change"
