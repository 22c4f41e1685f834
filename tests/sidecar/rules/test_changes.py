"""An older value ends only by a word of change about the same subject; where it is not sure,
both stay.
"""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.changes import Claim, ends, is_done, is_over
from pipimem.text.words.index_words import Bag, Words
from pipimem.text.words.segmentation import Segmenter

WORDS = Words(Segmenter())


def is_ended(
    new: str, old: str, kind: Kind = Kind.DECISION, by: str = "Tom", of: str = "Tom"
) -> bool:
    """Whether one statement ends the other."""
    return ends(Claim(new, by, kind), Claim(old, of, kind), WORDS)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("站会 10:15", "站会改到 9:45"),
        ("班车早上七点半", "班车改到八点"),
        ("The choir meets at 6 pm", "The choir now meets at 7 pm"),
        ("I use Vim", "I switched from Vim to Helix"),
        ("我用微信记账", "我从微信记账换到随手记了"),
        ("We use Slack", "We switched from Slack to Zulip"),
        ("我不喝咖啡", "我现在开始喝咖啡了"),
        ("我吃素", "我不再吃素了"),
        ("I don't eat fish", "I started eating fish again"),
        (
            "上午十点前别 @ 我，我在送娃",
            "我改主意了，不用等到十点，我现在九点就到公司，九点以后可以 @ 我",
        ),
        ("晚上八点后别找我", "改主意了，晚上十点前都可以找我"),
        ("周会在周一下午三点", "周会改到周二上午十点"),
        ("Our retro is every Friday at 4pm", "Our retro moves from Friday to Wednesday"),
        ("房租每月 3200 元", "房租涨到 3500 元了"),
        ("The deadline is June 2", "The deadline is extended to June 9"),
        ("缓存用 Redis", "缓存改用 Valkey"),
        ("The wedding is on 12 December", "Wedding moved! It's 19 December now"),
        ("The choir meets on Monday", "The choir meets on Monday … It moved to Thursday"),
        ("Our supplier is Miller", "Our supplier is not Miller any more, it's Baker"),
    ],
)
def test_a_word_of_change_about_the_same_ends_the_older(old: str, new: str) -> None:
    """Another time, another tool, allowed instead of forbidden."""
    assert is_ended(
        new, old, Kind.PREFERENCE if "我" in old or old.startswith("I ") else Kind.DECISION
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3 楼会议室用投影仪", "5 楼会议室用投影仪"),
        ("5 楼会议室用投影仪", "7 楼会议室改用投影仪"),
        ("B 座电梯周一检修", "C 座电梯改到周二检修"),
        ("team 1 deploys on Monday", "team 2 deploys on Tuesday"),
        ("team 2 deploys on Tuesday", "team 3 moves to Wednesday"),
        ("Bus 4 leaves at 8:10", "Bus 7 now leaves at 8:30"),
        ("v1.2 周二发", "v1.3 改到周四发"),
        ("v1.3 is out on Tuesday", "v1.4 moved to Thursday"),
        ("11 月的预算是 5 万", "12 月的预算改成 6 万"),
        ("11 月的预算是 5 万", "预算改成 6 万"),
        ("The rent for May is 700 euros", "The rent for June is raised to 750 euros"),
        ("小王的生日周三过", "小李的生日改到周五过"),
        ("Paul's shift is on Monday", "Nora's shift moved to Tuesday"),
        ("北京办公室在 3 楼", "上海办公室搬到 5 楼"),
        ("发布说明我后天中午之前写好", "发布改到下周三"),
        ("酒店 12 点退房", "高铁票改到 9 点"),
        ("port 8080 is used on production", "port 8080 changed to 9090 on staging"),
    ],
)
def test_a_number_or_name_of_the_subject_makes_another_subject(old: str, new: str) -> None:
    """Whatever word of change there is."""
    assert not is_ended(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The van is booked for 9 May, pick-up at 6:30 at the north gate", "Pick-up is now 7:00"),
        ("站会 10:15，三楼会议室", "站会改到 9:45"),
        ("The concert is at 6 pm in the gym", "The concert moved to 7 pm"),
        ("我不喝咖啡和茶", "我开始喝咖啡了"),
        ("I don't drink beer", "I stopped drinking coffee"),
        ("我不吃辣", "我现在开始吃猪肉了"),
        ("My sister lives in Berlin", "I moved from Berlin to Madrid"),
        ("I was born in Berlin", "I moved from Berlin to Madrid"),
        ("I met Anna in May", "Anna and I married in June"),
        ("月会在周一下午三点", "周会改到周二上午十点"),
    ],
)
def test_nothing_else_is_lost_with_the_older_value(old: str, new: str) -> None:
    """A place, a second drink, somebody else's home, what happened before: then both stay."""
    assert not is_ended(new, old, Kind.FACT)


@pytest.mark.parametrize(
    ("old", "new", "over"),
    [
        ("The projector is broken, use the one in room 3", "the projector is repaired", True),
        ("Don't use the oven, it's broken", "the oven is fixed", True),
        ("打印机坏了，大家用三楼的", "打印机修好了", True),
        ("我的车丢了", "我的车找到了", True),
        ("I have Ben's spare key", "I gave the key back", True),
        ("我借了小王的电钻", "电钻还给小王了", True),
        ("打印机坏了，大家用三楼的", "投影仪修好了", False),
        ("3 号电梯坏了", "5 号电梯修好了", False),
        ("The website is down since Monday", "The app is back", False),
        ("I borrowed Ann's drill on Monday", "I gave Ben's drill back", False),
        ("v1.2 is broken", "v1.3 is fixed", False),
    ],
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


@pytest.mark.parametrize(
    ("promise", "told", "by", "done"),
    [
        (
            "回滚脚本 ops/rollback.sh 我来写，下周一之前要能跑",
            "回滚脚本写完了，ops/rollback.sh，演练过",
            "Tom",
            True,
        ),
        (
            "回滚脚本 ops/rollback.sh 我来写，下周一之前要能跑",
            "回滚脚本写完了，ops/rollback.sh，演练过",
            "Ann",
            False,
        ),
        ("I'll order the new badges by Friday", "The new badges are ordered", "Tom", True),
        ("I'll call the dentist tomorrow", "called the dentist", "Tom", True),
        ("I'll book the hall for 3 May", "The bus is booked", "Tom", False),
        ("Ann, please order the badges by Friday", "The badges are ordered", "Ann", True),
        ("我周五前交报告", "报告搞定了", "Tom", True),
        ("我来订周六的餐厅", "票订好了", "Tom", False),
        ("我明天给房东打电话", "给房东打过电话了", "Tom", True),
        ("I'll order the new badges by Friday", "The new curtains are ordered", "Tom", False),
        ("我周日前交水电费", "水电费交了", "Tom", True),
    ],
)
def test_a_promise_is_over_when_its_owner_says_it_is_done(
    promise: str, told: str, by: str, done: bool
) -> None:
    """In the words of the promise."""
    said = Claim(told, by, None)
    assert is_done(said, Claim(promise, "Tom", Kind.OPEN_LOOP), WORDS) is done


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
