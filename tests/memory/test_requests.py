"""Requests: "forget that …" is told to the host and learnt by nobody."""

from __future__ import annotations

import time

from pipimem.memory.requests import MemoryRequest, requests, withheld, without_requests
from pipimem.notes.message import Message

from tests.cases import each


@each(
    ("said", "about"),
    [
        ("Forget that my phone is a Pixel 9.", "my phone is a Pixel 9"),
        ("Hi! Could you please forget what I said about Rome?", "Rome"),
        ("@bot delete my birthday from your memory please", "my birthday"),
        ("小钉，忘掉我的手机号。", "我的手机号"),
        ("麻烦把我们上周吵架的事忘掉吧", "我们上周吵架"),
        ("请删除关于我前公司的记忆。", "我前公司"),
        ("忘掉我说的买琴的事", "买琴"),
        ("把我之前提到的体检结果忘掉", "体检结果"),
        ("Forget what I said about my blood.", "my blood"),
        ("delete what I said about the budget", "the budget"),
        ("forget the chess thing I mentioned", "chess"),
        ("forget what we said on Friday about the launch, please", "the launch"),
        ("请把我的电话号码删掉", "我的电话号码"),
        ("Delete my phone number, thanks", "my phone number"),
        ("Forget everything you know about me", "everything you know about me"),
        ("忘掉我提到的那件事", "我提到的那件事"),
        ("remember that the deploy is on 3 Dec, and forget that Bob is vegan", "Bob is vegan"),
        ("会议改到周五，另外忘掉我的手机号", "我的手机号"),
        ("Please remove what you know about my salary", "my salary"),
        ("scratch that, forget the chess thing", "chess"),
        ("stop remembering my birthday", "my birthday"),
        ("please forget everything about my dentist", "my dentist"),
        ("Delete everything about my stay in the hospital", "my stay in the hospital"),
        ("不要记住我的工资", "我的工资"),
        ("你记得的关于我前男友的都删掉", "我前男友"),
        ("忘掉我说的买琴那件事吧", "买琴"),
        ("pip forget my insulin", "my insulin"),
        ("hey pip, please forget that my cousin is expecting", "my cousin is expecting"),
        ("小布 忘掉我舅舅住院的事", "我舅舅住院"),
        ("小布你把我的旧手机号忘掉吧", "我的旧手机号"),
        ("算了小布，把我怕狗这事忘了", "我怕狗"),
        ("别记我不吃香菜了", "我不吃香菜"),
        ("删除我刚才说的体重", "体重"),
        ("把老吴的旧号码删掉吧", "老吴的旧号码"),
    ],
)
def test_a_request_says_what_is_to_be_forgotten(said: str, about: str) -> None:
    """In the person's own words, without address, politeness and "what I said about"; a word that
    says nothing alone keeps its frame.
    """
    assert requests(said, "Tom", "m7") == (MemoryRequest("forget", about, "Tom", "m7"),)


@each(
    "said",
    [
        "Forget it.",
        "Don't forget that the gate closes at ten.",
        "I forget the names of my neighbours.",
        "I will never forget the summer in Rome.",
        "把旧的测试分支删掉",
        "Delete my branch when you merge",
        "Delete what I wrote in the draft",
        "我忘了带伞",
        "Actually I forgot the salad, and forgot my keys, too",
        "Stop remembering!",
        "会议改到周五，然后别忘了带伞",
        "people forget that it closes at five",
        "never forget that I like it hot",
        "小王 忘记带伞了",
        "谢谢你把我的生日忘了",
        "别记我账上",
        "小李把我的地址删了",
        "Remove everything about the pool from the poster",
        "Delete everything about parking on our website, please",
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
    both = "The demo is on Friday, and forget that Bob is vegan."
    assert without_requests(both) == "The demo is on Friday [a request to memory]"


def test_a_clause_that_says_how_it_is_after_all_is_learnt() -> None:
    """Only that: what explains a request goes with it."""
    text = "Forget the chess thing I said, we do play it after all"
    assert without_requests(text) == "[a request to memory] we do play it after all"
    assert (
        without_requests("忘掉我说的搬家的事，其实不搬了。") == "[a request to memory] 其实不搬了"
    )
    explained = "Forget that my mother, who is ill, lives in Rome."
    assert without_requests(explained) == "[a request to memory]"


def test_a_secret_that_somebody_asked_to_remember_is_told_without_it() -> None:
    """Of what was learnt after all, and of what nobody asked for, nothing is said."""
    said = [
        Message("user", "remember: the gate code is 4711", id="m1", speaker="Tom"),
        Message("user", "remember that my password is [secret:password]", id="m2"),
        Message("user", "the gate code is 4711", id="m3", speaker="Tom"),
        Message("user", "remember: the door is green", id="m4", speaker="Tom"),
        Message("assistant", "remember: the gate code is 4711", id="m5"),
        Message("user", "记住：门禁密码是 4711", id="m6", speaker="小王"),
    ]
    asked = "asked to remember what looks like a password or code"
    assert withheld(said, {"m6"}) == (f"Tom {asked} (m1)", f"somebody {asked} (m2)")
    assert withheld(said[-1:], ()) == (f"小王 {asked} (m6)",)


@each("unit", ["，", ",", ", ", "请，", ".,", "a, "])
def test_a_message_of_nothing_but_commas_takes_no_square_of_its_length(unit: str) -> None:
    """4,000 characters, as many as are read of a message, took a second."""
    text = (unit * 4_000)[:4_000]
    began = time.process_time()
    assert withheld([Message("user", text, id="m1", speaker="Tom")], learnt=()) == ()
    assert time.process_time() - began < 0.3
