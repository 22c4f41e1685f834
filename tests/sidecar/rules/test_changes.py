"""An older value ends only by a word of change about the same subject; where it is not sure,
both stay.
"""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.changes import ends, is_over
from pipimem.sidecar.rules.claim_index import ClaimIndex
from pipimem.sidecar.rules.claims import Claim
from pipimem.text.words.index_words import Bag, Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each, table

WORDS = Words(Segmenter())


def is_ended(
    new: str, old: str, kind: Kind = Kind.DECISION, by: str = "Tom", of: str = "Tom"
) -> bool:
    """Whether one statement ends the other; what does is found among many."""
    newer, older = Claim(new, by, kind), Claim(old, of, kind)
    is_over = ends(newer, older, WORDS)
    assert not is_over or ClaimIndex([older], WORDS).may_end(new) == [0]
    return is_over


@each(
    ("old", "new"),
    table(__file__, "a_word_of_change_about_the_same_ends_the_older"),
)
def test_a_word_of_change_about_the_same_ends_the_older(old: str, new: str) -> None:
    """Another time, another tool, allowed instead of forbidden."""
    assert is_ended(
        new, old, Kind.PREFERENCE if "我" in old or old.startswith("I ") else Kind.DECISION
    )


MOVED = [
    ("my number is 0171 555 1234", "my new number is 0172 999 4321"),
    ("My phone number is 0171 555 1234", "got a new phone number: 0172 999 4321"),
    ("我的手机号是 13800001111", "我换号了，新号码 13900002222"),
    ("I live in Berlin", "I moved to Madrid"),
    ("I'm based in Leeds", "I now live in York"),
    ("我住在上海", "我搬到杭州了"),
    ("My address is 5 Mill Lane, Leeds", "my new address is 12 Kirk Street, York"),
    ("My email is tom@old.example", "my new email is tom@new.example"),
    ("I work at Siemens", "I now work at Bosch"),
    ("我在阿里上班", "我跳槽到腾讯了"),
    ("our office is on Mill Lane 5", "we moved the office to Kirk Street 12"),
    ("办公室在文一路", "我们把办公室搬到西溪路了"),
    ("我们的供应商是老米", "供应商换成老白了"),
    ("The code name is Otter", "The code name changed to Beaver"),
]


@each(("old", "new"), MOVED)
def test_of_one_home_number_or_name_the_newer_ends_the_older(old: str, new: str) -> None:
    """What its speaker says of their own; of what all share whoever says it; never backwards."""
    assert is_ended(new, old, Kind.IDENTITY)
    assert not is_ended(old, new, Kind.IDENTITY)
    personal = old.casefold().startswith(("my ", "i ", "i'", "我的", "我住", "我在"))
    assert is_ended(new, old, Kind.FACT, by="Tom", of="Ann") is not personal


@each(
    ("old", "new"),
    table(__file__, "another_home_number_or_name_stays"),
)
def test_another_home_number_or_name_stays(old: str, new: str) -> None:
    """Somebody else's, one beside it, and what says more than where or which."""
    assert not is_ended(new, old, Kind.IDENTITY)


@each(
    ("old", "new"),
    table(__file__, "a_number_or_name_of_the_subject_makes_another_subject"),
)
def test_a_number_or_name_of_the_subject_makes_another_subject(old: str, new: str) -> None:
    """Whatever word of change there is."""
    assert not is_ended(new, old)


@each(
    ("old", "new"),
    table(__file__, "nothing_else_is_lost_with_the_older_value"),
)
def test_nothing_else_is_lost_with_the_older_value(old: str, new: str) -> None:
    """A place, a second drink, somebody else's home, what happened before: then both stay."""
    assert not is_ended(new, old, Kind.FACT)


@each(
    ("old", "new", "over"),
    table(__file__, "a_trouble_is_over_when_the_same_thing_is_repaired_or_given_back"),
)
def test_a_trouble_is_over_when_the_same_thing_is_repaired_or_given_back(
    old: str, new: str, over: bool
) -> None:
    """With all that was said because of it; another thing changes nothing."""
    assert is_ended(new, old, Kind.CONSTRAINT) is over


def test_a_list_is_never_ended_as_a_whole() -> None:
    """Nor does a page of commas end anything."""
    assert is_ended("站会改到 9:45", "站会 10:15")
    assert not is_ended("站会改到 9:45" + "，好" * 20, "站会 10:15")
    assert not is_ended("站会改到 9:45", "站会 10:15" + "，喝水" * 20)


def test_without_a_word_of_change_nothing_ends() -> None:
    """Two values may both be true."""
    assert not is_ended("The pool is closed on Monday", "The pool is closed on Tuesday")
    assert not is_ended("周会在周二", "周会在周一")


def test_what_somebody_is_or_likes_is_changed_by_them_alone() -> None:
    """One person's new habit is not another's."""
    assert not is_ended("我现在开始喝咖啡了", "我不喝咖啡", Kind.PREFERENCE, by="Tom", of="Ann")
    assert is_ended("站会改到 9:45", "站会 10:15", Kind.DECISION, by="Tom", of="Ann")


def test_each_statement_is_cut_into_words_once_however_many_it_is_held_against(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundred decisions about one thing make ten thousand pairs."""
    words, cut = Words(Segmenter()), []
    bag = words.bag

    def counted(text: str) -> Bag:
        cut.append(text)
        return bag(text)

    monkeypatch.setattr(words, "bag", counted)
    said = [
        Claim(f"we decided to move gateway {n} to hall {n + 1000}", "Tom", None) for n in range(100)
    ]
    for place, old in enumerate(said):
        assert not is_over(old, said[place + 1 :], words)
    assert len(cut) < 40 * len(said)
