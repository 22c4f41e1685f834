"""What people tell of their lives: what is worth a line, and what is talk."""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline.life import alone, told


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I adopted a grey cat from the harbour shelter last week", Kind.FACT),
        ("my sister lives in Porto with two kids", Kind.FACT),
        ("I've been building wooden boats for seven years", Kind.ONGOING),
        ("I'm going to sail to Madeira in June", Kind.ONGOING),
        ("I lost my job at the bakery", Kind.FACT),
        ("I'm not really into fishing or camping", Kind.FACT),
        ("昨天我去了海边的灯塔，风很大", Kind.FACT),
        ("最近我在学修自行车", Kind.ONGOING),
        ("我的工作很稳定，但是离家太远", Kind.FACT),
        ("我打算暑假去学潜水", Kind.ONGOING),
    ],
)
def test_deeds_states_and_plans_are_told(text: str, kind: Kind) -> None:
    """By their verb, when there is something in them one could look up."""
    got = told(text)
    assert got is not None
    assert got[0] is kind


@pytest.mark.parametrize(
    "text",
    [
        "I had such a great time",
        "I'm so proud of you and your boat",
        "I'll always be there for you",
        "I love how you painted the boat",
        "I took it there last month for them",
        "we can make a real difference together",
        "knowing I'm helping the harbour is amazing",
        "谢谢你的建议，我会去尝试一下",
        "现在我要去准备晚饭了",
        "和你聊天我很开心",
    ],
)
def test_reactions_and_small_talk_are_not(text: str) -> None:
    """Thanks, praise, cheer, and sentences that only the talk before would explain."""
    assert told(text) is None


def test_clauses_that_speak_to_somebody_are_left_out() -> None:
    """What is told stands alone."""
    assert alone("I painted a boat - you'd love it, and it was so much fun") == "I painted a boat"
    assert alone("谢谢你，最近我在学修自行车，你会吗") == "最近我在学修自行车"
