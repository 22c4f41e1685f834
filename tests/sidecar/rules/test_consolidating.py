"""What is said in one window and corrected, done or taken back in the next."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules.consolidating import consolidated
from pipimem.sidecar.rules.refreshing import refreshed
from pipimem.sidecar.tasks import Consolidate, Consolidated, KnownEntry, Refresh

from tests.sidecar.rules.test_choosing import NOW, WORDS, talk

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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(("old", "new", "kept"), CHANGES)
def test_a_change_stands_wherever_the_old_value_does(old: str, new: str, kept: str) -> None:
    """In one window, in MEMORY and in HISTORY: never the old one alone."""
    first, second = talk(old, new)
    got = consolidated(Consolidate(NOW, (), (), (first, _later(second, 1))), WORDS)
    for text in (*(item.text for item in got.learned), *(one.text for one in got.history)):
        assert kept in text
    assert old in "".join(one.text for one in got.history)


@pytest.mark.parametrize(("old", "new", "kept"), CHANGES)
def test_a_change_ends_an_entry_of_long_ago(old: str, new: str, kept: str) -> None:
    """However much was said in between, and however full the next window is."""
    was = f"Tom（2026-11-01）：{old}" if new.startswith("家") else f"Tom (2026-11-01): {old}"
    memory = (KnownEntry("k1", "Facts", was, Trust.INFERRED),)
    more = [f"Nobody may open lab {number} alone at night" for number in range(2, 9)]
    got = consolidated(Consolidate(NOW, (), memory, talk(*more, f"Ann|{new}")), WORDS)
    (item,) = [item for item in got.learned if item.replaces]
    assert item.replaces == ("k1",)
    assert kept in item.text
