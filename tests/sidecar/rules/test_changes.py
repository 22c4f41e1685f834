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

from tests.cases import each

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
        ("The plumber comes on Thursday 19 March", "The plumber comes on Thursday 26 March now"),
        ("The tour is on 16 May", "The tour is one week later, on 23 May"),
        ("Our retro is on Friday", "we decided to move the retro to Wednesday"),
        ("2.4 的发布窗口先定在下周二晚上九点到十点", "发布改到下周三晚上八点到九点"),
        ("The v2 tour of the harbour is on Friday for now", "The tour moved to Sunday"),
        ("The deadline is 3 May", "let's push the deadline back to 9 May"),
        ("体检在25号下午两点", "体检改26号上午十点"),
        ("门票 30 元", "门票最后定 25 元"),
        ("每人车费 40 元", "每人车费实际是 35 元"),
        ("讲座在 10 月 12 日", "讲座再推到 10 月 15 日"),
        ("The ticket is 12 euros", "The ticket went down to 9 euros"),
    ],
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
    [
        ("My sister's number is 0171 555 1234", "my new number is 0172 999 4321"),
        ("My office number is 0171 555 1234", "my new mobile number is 0172 999 4321"),
        ("My sister lives in Berlin", "I moved to Madrid"),
        ("I was born in Berlin", "I moved to Madrid"),
        ("I live in Berlin with my two cats", "I moved to Madrid"),
        ("我妹妹住在上海", "我搬到杭州了"),
        ("The office is closed on Monday", "we moved the office to Kirk Street"),
        ("The office is lovely", "we moved the office to Kirk Street"),
        ("The archive is on Mill Lane", "we moved the office to Kirk Street"),
        ("The train is at 8:10", "The train moved to platform 3"),
        ("供应商是骗子", "供应商换成老白了"),
        ("北京办公室在文一路", "上海办公室搬到西溪路了"),
    ],
)
def test_another_home_number_or_name_stays(old: str, new: str) -> None:
    """Somebody else's, one beside it, and what says more than where or which."""
    assert not is_ended(new, old, Kind.IDENTITY)


@each(
    ("old", "new"),
    [
        ("3 楼会议室用投影仪", "5 楼会议室用投影仪"),
        ("5 楼会议室用投影仪", "7 楼会议室改用投影仪"),
        ("B 座电梯周一检修", "C 座电梯改到周二检修"),
        ("team 1 deploys on Monday", "team 2 deploys on Tuesday"),
        ("team 2 deploys on Tuesday", "team 3 moves to Wednesday"),
        ("Bus 4 leaves at 8:10", "Bus 7 now leaves at 8:30"),
        ("v1.2 周二发", "v1.3 改到周四发"),
        ("v1.2 先定周二发", "v1.3 改到周四发"),
        ("2.4 的发布窗口定在下周二晚上九点到十点", "发布改到下周三晚上八点到九点"),
        ("v1.3 is out on Tuesday", "v1.4 moved to Thursday"),
        ("11 月的预算是 5 万", "12 月的预算改成 6 万"),
        ("11 月的预算是 5 万", "预算改成 6 万"),
        ("The rent for May is 700 euros", "The rent for June is raised to 750 euros"),
        ("小王的生日周三过", "小李的生日改到周五过"),
        ("Paul's shift is on Monday", "Nora's shift moved to Tuesday"),
        ("北京办公室在 3 楼", "上海办公室搬到 5 楼"),
        ("发布说明我后天中午之前写好", "发布改到下周三"),
        ("酒店 12 点退房", "高铁票改到 9 点"),
        ("we moved gateway 4 to hall 7", "we decided to move gateway 5 to hall 8"),
        ("Our retro is on Friday", "we decided to move the demo to Wednesday"),
        ("port 8080 is used on production", "port 8080 changed to 9090 on staging"),
        ("I'd rather not release in the evening", "the 2.4 release moves to Thursday 12 March"),
    ],
)
def test_a_number_or_name_of_the_subject_makes_another_subject(old: str, new: str) -> None:
    """Whatever word of change there is."""
    assert not is_ended(new, old)


@each(
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


@each(
    ("old", "new", "over"),
    [
        ("The projector is broken, use the one in room 3", "the projector is repaired", True),
        ("Don't use the oven, it's broken", "the oven is fixed", True),
        ("打印机坏了，大家用三楼的", "打印机修好了", True),
        ("我的车丢了", "我的车找到了", True),
        ("I have Ben's spare key", "I gave the key back", True),
        ("我借了小王的电钻", "电钻还给小王了", True),
        ("东门修路，大家走西门", "东门修好了", True),
        ("走廊的灯不亮", "走廊的灯亮了", True),
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
