"""First person into third, in both languages."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.sidecar.offline import cues
from pipimem.sidecar.offline.sentences import sentences, split
from pipimem.sidecar.offline.voice import third_person
from pipimem.sidecar.offline.wording import core, tightened
from tests.sidecar.conftest import said


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("I'm Dana, I do QA and run the release", "Dana", "Dana does QA and runs the release"),
        ("I love camping, my kids do too", "Mel", "Mel loves camping, their kids do too"),
        ("I've been painting since I was ten", "Mel", "Mel has been painting since Mel was ten"),
        ("I went to see my mom and felt great", "Mel", "Mel went to see their mom and felt great"),
        ("I eventually try things", "Jo", "Jo eventually tries things"),
        ("We never deploy on Fridays", "Dana", "Dana: We never deploy on Fridays"),
        ("I like tea", "", "The user likes tea"),
        ("我是林晓，产品经理", "林晓", "林晓，产品经理"),
        ("需求归我，发布也归我管", "林晓", "需求归林晓，发布也归林晓管"),
        ("我喜欢读书，我的猫也喜欢", "小唐", "小唐喜欢读书，猫也喜欢"),
        ("我看了，证书三月到期，我来续", "小唐", "小唐看了，证书三月到期，小唐来续"),
        ("我们周五不发布", "老周", "老周：我们周五不发布"),
        ("我喜欢茶", "", "用户喜欢茶"),
        ("你可以叫我小琳", "陆琳", "陆琳的称呼：小琳"),
    ],
)
def test_i_becomes_a_name(text: str, name: str, told: str) -> None:
    """Verbs agree, a later subject is the name again, what is theirs is their and 自己, and a statement about others names who said it."""
    assert third_person(text, name, attributed=True) == told


def test_a_sentence_ends_where_it_ends() -> None:
    """Not behind a title, in a version, a time or a quoted title."""
    assert split("Dr. Li runs v2.4.0 at 10.30. Then lunch! 好的。看《摔跤吧！爸爸》了") == [
        "Dr. Li runs v2.4.0 at 10.30.",
        "Then lunch!",
        "好的。",
        "看《摔跤吧！爸爸》了",
    ]


def test_a_statement_before_a_question_is_a_statement() -> None:
    """ "I do A, do you too?" says something first."""
    got = [(s.text, s.question) for s in sentences([said(1, "我最近在学吉他，你也喜欢音乐吗？")])]
    assert got == [("我最近在学吉他", False), ("你也喜欢音乐吗", True)]


def test_a_long_sentence_is_cut_at_its_clauses_or_not_at_all() -> None:
    """Nothing ends in the middle of a clause."""
    text = "we use Redis, because it is fast, although nobody has measured it for years"
    assert core(text, 0, 40) == "we use Redis, because it is fast"
    assert core("x" * 50, 0, 40) == ""


def test_fillers_go_but_not_out_of_titles() -> None:
    """Headlines are shorter; what stands in quotes is somebody's own."""
    assert tightened("其实我非常喜欢《摔跤吧！爸爸》这部电影呢") == "我喜欢《摔跤吧！爸爸》这部电影"
    assert tightened("I really like the old map") == "I like the old map"


@given(
    st.text(alphabet="我I'm 们的，。,.!?？「」“”《》\nab爱d12@[]（）", max_size=80),
    st.sampled_from(["Dana", "林晓", ""]),
)
def test_no_text_breaks_it(text: str, name: str) -> None:
    """Whatever people type."""
    for sentence in sentences([said(1, text, name)]):
        assert third_person(sentence.text, name, attributed=True)
        cues.hit(sentence.text)


def test_every_phrase_of_the_tables_is_a_pattern() -> None:
    """They compile on first use, so an error would show late."""
    for cue in (*cues._EXPLICIT, *cues._CUES):
        re.compile(cue.phrase)
        re.compile(cue.unless)


@pytest.mark.parametrize("piece", ["我喜欢", "a ", "I'm ", "「", "，", "remember ", "改到", "@pipi "])
def test_hostile_repetition_is_read_in_linear_time(piece: str) -> None:
    """Sixty messages of four thousand characters of one thing end soon; the test would hang otherwise."""
    for sentence in sentences([said(n, piece * (4000 // len(piece))) for n in range(20)]):
        cues.hit(sentence.text)
        third_person(sentence.text, "Dana", attributed=True)
