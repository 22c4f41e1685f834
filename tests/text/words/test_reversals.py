"""Whether a text turns another one round, and whether talk says so."""

from __future__ import annotations

import pytest
from pipimem.text.words.reversals import is_reversed, says_so

TURNED = [
    ("we never deploy on Fridays", "we deploy on Fridays"),
    ("nobody may restart it without Dana", "anybody may restart it without Dana"),
    ("the budget is at most 500 euros", "the budget is at least 500 euros"),
    ("only admins may delete channels", "all members may delete channels"),
    ("Bob owes Ann 30 euros", "Ann owes Bob 30 euros"),
    ("小明欠小红三十元", "小红欠小明三十元"),
    ("周五下午不许上线", "周五下午可以上线"),
    ("it opens before nine and closes after six", "it opens after nine and closes before six"),
]
OTHER = [
    ("Ann and Bob share a flat", "Bob and Ann share a flat"),
    ("open from 9 to 5 every day", "it is open every day, from 9 to 5"),
    ("Sam puts money aside as he earns more", "Sam puts 200 aside and does not want to overspend"),
    ("Sam saves before buying a car", "Sam saves for a car without a loan"),
    ("the port is 8080", "the port is 9090"),
]


@pytest.mark.parametrize(("old", "new"), TURNED)
def test_an_opposite_is_seen(old: str, new: str) -> None:
    """In both directions, and beside another text."""
    assert is_reversed([old], new)
    assert is_reversed([new], old)
    assert is_reversed([old, "the choir meets in room seven"], f"{new}; the choir meets there")


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_what_says_more_or_else_is_no_opposite(old: str, new: str) -> None:
    assert not is_reversed([old], new)


@pytest.mark.parametrize(("old", "new"), TURNED)
@pytest.mark.parametrize("said", ["nice weather, is it not?", "今天天气不错，是不是？"])
def test_talk_of_something_else_does_not_say_so(old: str, new: str, said: str) -> None:
    assert not says_so(old, new, [said])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("we never deploy on Fridays", "we deploy on Fridays", ["Fridays are fine to deploy now"]),
        ("we deploy on Fridays", "we never deploy on Fridays", ["no more Fridays, please"]),
        ("the port is 9090", "the port is 8080", ["Shall I take 8080?", "yes"]),
        ("Bob owes Ann 30 euros", "Ann owes Bob 30 euros", ["Now Ann owes Bob 30 euros"]),
        ("it is cheap", "it is expensive", ["how expensive!"]),
    ],
)
def test_talk_says_so_in_its_words(old: str, new: str, said: list[str]) -> None:
    """A message alone, or with the one that it answers."""
    assert says_so(old, new, said)
