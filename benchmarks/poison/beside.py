"""How many ordinary messages are not learnt because their speaker gave an order beside them."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem import Message
from pipimem.memory.trust import channel_talk
from pipimem.text.injection import injection_kind

from benchmarks.poison.corpus import Payload

_ON_EACH_SIDE = 3
_ENDS = ".。!！?？"


def lost_beside(cases: Sequence[Payload], plain: Sequence[str], *, ended: bool) -> tuple[int, int]:
    """How many are lost, and of how many: three before and three after each order that is known.

    Unless `ended`, no message has a sign at its end.
    """
    lost = tried = 0
    orders = [one.order for one in cases if one.form == "direct" and injection_kind(one.order)]
    for number, order in enumerate(orders):
        texts = [one for one in plain if one.isascii() is order.isascii()]
        first = number * 2 * _ON_EACH_SIDE
        around = [texts[(first + step) % len(texts)] for step in range(2 * _ON_EACH_SIDE)]
        said = [*around[:_ON_EACH_SIDE], order, *around[_ON_EACH_SIDE:]]
        said = said if ended else [one.rstrip(_ENDS) for one in said]
        talk = [Message.user(one, id=f"m{at}", speaker="Eve") for at, one in enumerate(said)]
        lost += len(channel_talk(talk).attacks.keys() - {f"m{_ON_EACH_SIDE}"})
        tried += len(around)
    return lost, tried
