"""A text stands for others only with what they deny."""

from __future__ import annotations

import time

import pytest
from pipimem.text.words.similarity import (
    denies_the_same,
    is_tightened,
)


@pytest.mark.parametrize(
    ("olds", "new"),
    [
        (["Ann never eats meat", "Ann eats no meat"], "Ann never eats meat"),
        (["Ann does not eat meat", "Ann never eats fish"], "Ann eats no meat and no fish"),
        (["nobody may restart it"], "nobody may restart it"),
        (["Ann likes tea", "Ann doesn't take milk"], "Ann likes tea, and doesn't take milk"),
        (["周五不许上线", "不要给供应商付款"], "周五不许上线；不要给供应商付款"),
        (["the port is 8080", "Ann runs it"], "Ann runs it on port 8080"),
        (["use uv", "do not use pip"], "use uv, not pip"),
        (["tests mustn't use the network"], "tests must not use the network"),
        # 非, 别 and 不 are parts of words that deny nothing.
        (["我非常喜欢喝咖啡"], "我很喜欢喝咖啡"),
        (["他特别喜欢吃辣"], "他很喜欢吃辣"),
        (["差不多每周一次去游泳"], "大约每周一次去游泳"),
    ],
)
def test_a_text_that_keeps_what_was_denied(olds: list[str], new: str) -> None:
    """Two that deny one thing may share their denial; the words around it may change."""
    assert denies_the_same(olds, new)


@pytest.mark.parametrize(
    ("olds", "new"),
    [
        (["we never deploy on Fridays"], "we deploy on Fridays"),
        (["Tom is allergic to peanuts"], "Tom isn’t allergic to peanuts"),
        (["nobody may restart it"], "anybody may restart it"),
        (["we cannot pay", "Ann leads"], "we can pay, and Ann leads"),
        # As many denials as before, of something else.
        (["we never deploy", "Tom takes peanuts"], "we deploy; Tom never takes peanuts"),
        (["周五不许上线", "给供应商付款"], "周五可以上线；不要给供应商付款"),
        (["别发旧地址"], "发旧地址"),
        # The denial changes places with what is not denied.
        (["use uv", "do not use pip"], "use pip, do not use uv"),
        (
            ["Ben is allergic to nuts", "Ben is not allergic to milk"],
            "Ben is not allergic to nuts, Ben is allergic to milk",
        ),
        (["Ann eats meat", "Ann does not eat fish"], "Ann eats fish, does not eat meat"),
        (["用uv管理依赖", "不要用pip管理依赖"], "用pip管理依赖，不要用uv管理依赖"),
        (["we mustn't log addresses"], "we must log addresses"),
        (["the lease ain't renewed"], "the lease is renewed"),
        (["发票未付款"], "发票已付款"),
        (["我非常喜欢喝咖啡"], "我不喜欢喝咖啡"),
        (["我对花生过敏"], "我对花生不过敏"),
    ],
)
def test_a_text_that_denies_more_or_less(olds: list[str], new: str) -> None:
    """A denial that came, went or moved to another statement."""
    assert not denies_the_same(olds, new)


def test_a_tighter_wording_denies_the_same() -> None:
    """In fewer of its words, with the denial."""
    old = "Tom told us that he never deploys on Fridays"
    assert is_tightened(old, "Tom never deploys on Fridays")
    assert not is_tightened(old, "Tom deploys on Fridays")


def test_many_denials_take_time_in_proportion_to_their_number() -> None:
    """Ten times as many, far from a hundred times as long."""

    def seconds(count: int) -> float:
        text = "".join(f"no {number}, " for number in range(count))
        began = time.process_time()
        assert denies_the_same([text], text)
        return time.process_time() - began

    seconds(100)
    assert seconds(20_000) < 50 * max(seconds(2_000), 1e-3)
