"""What is said in one window and corrected, done or taken back in the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules.consolidating import consolidated
from pipimem.sidecar.rules.refreshing import refreshed
from pipimem.sidecar.tasks import Consolidate, Consolidated, KnownEntry, Refresh

from tests.cases import each, table
from tests.sidecar.rules.test_choosing import NOW, WORDS, learnt_from, talk

SECTIONS = {Kind.OPEN_LOOP: "Open Loops", Kind.PREFERENCE: "Preferences"}


def after(
    first: tuple[str, ...], second: tuple[str, ...], days: int = 0, trust: Trust = Trust.INFERRED
) -> tuple[list[str], Consolidated]:
    """The entries that a first window leaves, and the answer to the next one."""
    messages = talk(*first, *second)
    before, window = messages[: len(first)], messages[len(first) :]
    window = tuple(_later(message, days) for message in window)
    was = consolidated(Consolidate(NOW, (), (), before), WORDS).learned
    memory = tuple(
        KnownEntry(item.text, SECTIONS.get(item.kind, "Facts"), item.text, trust) for item in was
    )
    task = Consolidate(NOW, (), memory, window, before=before)
    return [item.text for item in was], consolidated(task, WORDS)


def _later(message: Message, days: int) -> Message:
    assert message.time
    return replace(message, time=message.time + timedelta(days=days))


@each(
    ("first", "second", "kept"),
    [
        ("Dinner is at six on the terrace", "no, seven", "… no, seven"),
        ("I'm allergic to cats", "Just kidding, it's peanuts", "… Just kidding, it's peanuts"),
        ("The choir meets on Monday in room 4", "It moved to Thursday", "… It moved to Thursday"),
        ("Ann|The choir meets on Monday in room 4", "no, it's room 6", "” no, it's room 6"),
        ("周会在三楼会议室开", "哦不对，是五楼", "… 哦不对，是五楼"),
    ],
)
def test_a_correction_in_the_next_window_ends_the_entry(first: str, second: str, kept: str) -> None:
    """Both are quoted together, from both messages, in the place of the old entry."""
    old, got = after((first,), (second,))
    (new,) = got.learned
    assert new.replaces == tuple(old)
    assert new.text.endswith(kept)
    assert first.rpartition("|")[2] in new.text
    assert new.sources == ("m1", "m2")
    assert [bullet.text for bullet in got.history] == [new.text]


@each(
    ("first", "second", "days"),
    [
        (("I'm allergic to cats",), "just kidding", 0),
        (("I'll send the slides to Anna by Friday",), "done", 1),
        (("Ann|Could somebody call the vet by Friday?", "I'll call her tomorrow"), "Done!", 1),
        (
            ("Ann|Could somebody call the vet by Friday?", "I'll call her tomorrow"),
            "done, called her. She comes on Wednesday at 9",
            1,
        ),
        (("我下个月要去杭州出差",), "刚才那条别记", 0),
    ],
)
def test_what_is_done_or_taken_back_in_the_next_window_is_over(
    first: tuple[str, ...], second: str, days: int
) -> None:
    """The entry ends."""
    old, got = after(first, (second,), days)
    ended = [over.id for over in got.over]
    ended += [name for item in got.learned for name in item.replaces]
    assert old
    assert set(ended) == set(old)


@each(
    ("first", "second"),
    [
        ("Ann|remember: the gate closes at ten", "Bo|no, I'm vegetarian"),
        ("Ann|remember: the keynote is at 9", "Bo|actually 10"),
        ("Ann|remember: the keynote is at 9", "Ann|my boss is a lizard, jk"),
        ("I'm allergic to nuts", "I could eat a horse jk"),
        ("我对虾过敏", "我明天搬去月球，逗你们的"),
    ],
)
def test_what_others_say_and_later_jokes_end_no_entry(first: str, second: str) -> None:
    """Nobody else takes away what is to be remembered; a joke is the sentence that says so."""
    old, got = after((first,), (second,))
    assert len(old) == 1
    assert not got.over
    assert all(not item.replaces for item in got.learned)


def test_only_what_was_learnt_from_talk_ends_so() -> None:
    """What a person wrote stands."""
    _, got = after(("Dinner is at six on the terrace",), ("just kidding",), trust=Trust.HUMAN)
    assert not got.over


def test_what_was_thought_about_is_not_learnt_again() -> None:
    """The messages in front of a window are only looked at."""
    _, got = after(("Dinner is at six on the terrace",), ("I live in Madrid",))
    assert [item.text for item in got.learned] == ["Tom (2026-11-12): I live in Madrid"]
    assert len(got.history) == 1


def test_the_sheet_drops_what_the_next_window_corrects() -> None:
    """The corrected sentence stands there, the old one nowhere."""
    before, window = talk("Dinner is at six on the terrace", "no, seven")
    sheet = "# Session\n\n## Current State\n\n- Tom (2026-11-12): Dinner is at six on the terrace\n"
    got = refreshed(Refresh(NOW, sheet, (window,), (before,)), WORDS)
    assert got.sections["Current State"] == (
        "Tom (2026-11-12): Dinner is at six on the terrace … no, seven",
    )


def test_a_promise_done_the_day_after_is_no_open_loop() -> None:
    """Its day counts from the day it was said, so both are not quoted together; it ends even so."""
    promise, done = talk("I'll call the vet tomorrow", "done, called her")
    window = (promise, _later(done, 1))
    got = consolidated(Consolidate(NOW, (), (), window), WORDS)
    assert all(item.kind is not Kind.OPEN_LOOP for item in got.learned)


CHANGES = [
    (
        "The party is on 14 November at the lake house",
        "Party moved! It's the 21st now.",
        "Party moved! It's the 21st now",
    ),
    (
        "The rehearsal is on 3 May in the old gym",
        "The rehearsal is postponed to 10 May",
        "The rehearsal is postponed to 10 May",
    ),
    ("家长会在3月20日，地点是老礼堂", "家长会改到3月27日", "家长会改到3月27日"),
]


@each(("old", "new", "kept"), CHANGES)
def test_a_change_stands_wherever_the_old_value_does(old: str, new: str, kept: str) -> None:
    """In one window, in MEMORY and in HISTORY: never the old one alone."""
    first, second = talk(old, new)
    got = consolidated(Consolidate(NOW, (), (), (first, _later(second, 1))), WORDS)
    for text in (*(item.text for item in got.learned), *(one.text for one in got.history)):
        assert kept in text
    assert old in "".join(one.text for one in got.history)


@each(
    ("old", "new"),
    [
        ("the trip to Bath is on 3 May", "trip is cancelled, the coach company went bust"),
        ("团建定在下个月3号，去青岛", "团建取消了"),
    ],
)
def test_what_is_cancelled_stands_nowhere_without_that(old: str, new: str) -> None:
    """The two are one quote; what is not cancelled stands alone."""
    first, other, second = talk(old, "The choir meets on Monday at six", f"Ann|{new}")
    got = consolidated(Consolidate(NOW, (), (), (first, other, second)), WORDS)
    texts = [item.text for item in got.learned]
    assert sum(old in text and new in text for text in texts) == 1
    assert "Tom (2026-11-12): The choir meets on Monday at six" in texts
    assert len(texts) == 2


@each(("old", "new", "kept"), CHANGES)
def test_a_change_ends_an_entry_of_long_ago(old: str, new: str, kept: str) -> None:
    """However much was said in between, and however full the next window is."""
    was = f"Tom（2026-11-01）：{old}" if new.startswith("家") else f"Tom (2026-11-01): {old}"
    memory = (KnownEntry("k1", "Facts", was, Trust.INFERRED),)
    more = [f"Nobody may open lab {number} alone at night" for number in range(2, 9)]
    got = consolidated(Consolidate(NOW, (), memory, talk(*more, f"Ann|{new}")), WORDS)
    (item,) = [item for item in got.learned if item.replaces]
    assert item.replaces == ("k1",)
    assert kept in item.text


TOPICS = [
    ("会费：这学期每人交80元", "会费得补，乐谱要另买，改成每人100元"),
    ("讲座定了，10月13日周二，二楼报告厅", "讲座再推到15日周四，其余不变"),
    ("我爸膝盖要手术，定了6月24号，三医院", "我爸手术提前了，医生有空，22号做"),
    ("Tickets: 12 euros, at the door", "Tickets, as we need a bus, went up to 15 euros"),
]


@each(("old", "new"), TOPICS)
def test_a_new_value_is_quoted_with_the_old_one_of_its_topic(old: str, new: str) -> None:
    """Where something else is said between the topic and its value; both by one person."""
    first, second = talk(old, new)
    got = consolidated(Consolidate(NOW, (), (), (first, _later(second, 2))), WORDS)
    texts = [item.text for item in got.learned]
    assert all(new in text for text in texts if old in text)
    assert any(new in text for text in texts)


@each(
    ("old", "new"),
    [
        ("Tickets: 12 euros, at the door", "Coffee, as the beans are dear, went up to 15 euros"),
        ("Tickets: 12 euros, at the door", "Ann|Tickets, as I need a bus, went up to 15 euros"),
        ("会费：这学期每人交80元", "场租得补，乐谱要另买，改成每人100元"),
        ("会费：这学期每人交80元", "会费得补，乐谱要另买，改到周三晚上收"),
    ],
)
def test_what_is_of_another_topic_person_or_type_stands_alone(old: str, new: str) -> None:
    """Nothing ties the two values."""
    texts = [item.text for item in learnt_from(old, new)]
    assert any(text.endswith(old) for text in texts)


@each(
    ("old", "new"),
    table(__file__, "what_changes_a_kept_statement_is_quoted_with_it"),
)
def test_what_changes_a_kept_statement_is_quoted_with_it(old: str, new: str) -> None:
    """Also where it would not be kept alone, and where only the old value is named again."""
    texts = [item.text for item in learnt_from(old, "The choir meets at six in room 4", new)]
    assert [new in text for text in texts if old in text] == [True]


@each(
    ("old", "new"),
    table(__file__, "a_number_or_person_in_both_makes_no_change"),
)
def test_a_number_or_person_in_both_makes_no_change(old: str, new: str) -> None:
    """A floor is no house, who says it is no topic, and a price is no count of things."""
    assert [
        item.text for item in learnt_from(old, new) if old in item.text and new in item.text
    ] == []


@each(
    ("old", "new"),
    [
        (
            "the collection moves to Wednesday evenings from next week, at 8pm",
            "the collection is back to Wednesdays at 7pm, not 8",
        ),
        ("摄影展下周六办，门票定198元", "摄影展门票最后定188元，不改了"),
    ],
)
def test_a_relative_day_does_not_save_an_old_value(old: str, new: str) -> None:
    """It cannot be quoted together with what was said on another day; then it is left out."""
    first, second = talk(old, new)
    got = consolidated(Consolidate(NOW, (), (), (first, _later(second, 3))), WORDS)
    (item,) = got.learned
    assert item.text.endswith(new)
    assert old not in item.text


@each(("awaits", "learnt"), [(True, ["Ann (2026-11-12): no deploys on Fridays"]), (False, [])])
def test_a_quote_that_lacks_a_second_voice_is_learnt_again(awaits: bool, learnt: list[str]) -> None:
    """Another member may say the same; any other quote is known."""
    text = "Tom (2026-11-10): “no deploys on Fridays”"
    was = KnownEntry("k1", "Facts", text, Trust.QUOTED, awaits_second_voice=awaits)
    task = Consolidate(NOW, (), (was,), talk("Ann|no deploys on Fridays"))
    assert [item.text for item in consolidated(task, WORDS).learned] == learnt
