"""Requests: "forget that …" is told to the host and learnt by nobody."""

from __future__ import annotations

import pytest
from pipimem.memory.requests import MemoryRequest, requests, without_requests


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("Forget that my phone is a Pixel 9.", "my phone is a Pixel 9"),
        ("Hi! Could you please forget what I said about Rome?", "what I said about Rome"),
        ("@bot delete my birthday from your memory please", "my birthday"),
        ("小钉，忘掉我的手机号。", "我的手机号"),
        ("麻烦把我们上周吵架的事忘掉吧", "我们上周吵架的事"),
        ("请删除关于我前公司的记忆。", "关于我前公司的记忆"),
    ],
)
def test_a_request_says_what_is_to_be_forgotten(said: str, about: str) -> None:
    """In the person's own words, without address and politeness."""
    assert requests(said, "Tom", "m7") == (MemoryRequest("forget", about, "Tom", "m7"),)


@pytest.mark.parametrize(
    "said",
    [
        "Forget it.",
        "Don't forget that the gate closes at ten.",
        "I forget the names of my neighbours.",
        "I will never forget the summer in Rome.",
        "我忘了带伞",
        "别忘了周五的会",
        "忘了我的密码，怎么找回？",
        "我把钥匙忘在办公室了",
        "> Forget that my phone is a Pixel 9.\nwho wrote this?",
    ],
)
def test_what_only_speaks_of_forgetting_is_no_request(said: str) -> None:
    """A reminder, an idiom, a story, a quotation."""
    assert requests(said) == ()


def test_a_request_is_taken_out_of_what_is_learnt_from() -> None:
    """The rest of the message stays."""
    text = "Forget that my phone is a Pixel 9. I moved to Lyon in May."
    assert without_requests(text) == "[a request to memory] I moved to Lyon in May."
    assert without_requests("I moved to Lyon.\nIn May.") == "I moved to Lyon.\nIn May."
