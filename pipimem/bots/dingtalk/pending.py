"""What the bot asked a person and waits to be answered."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Pending:
    """What the bot asked a person, and what they said to it in their next message.

    `what` is a text to forget, or empty for going on the record again. With `by_another` somebody
    else is to agree, before `ends`, in seconds of the clock's monotonic scale.
    """

    what: str
    sender: str
    by_another: bool = False
    ends: float = inf
    is_agreed: bool = False
