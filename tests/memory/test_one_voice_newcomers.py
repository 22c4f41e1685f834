"""Who is a newcomer of a group: by the days on which its people spoke."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipimem.memory.one_voice import SpeakingDays
from pipimem.notes.message import Message

from tests.cases import each

BEGAN = datetime.fromisoformat("2026-09-01T09:00:00+08:00")


def said(speaker: str, day: int, text: str = "hello") -> Message:
    """What somebody says so many days after the group began."""
    return Message.user(
        text, id=f"{speaker}{day}", speaker=speaker, time=BEGAN + timedelta(days=day)
    )


def newcomers(*messages: Message) -> set[str]:
    """The messages of newcomers, whatever order they are read in."""
    found = []
    for order in (messages, messages[::-1]):
        days = SpeakingDays()
        for message in order:
            days.add(message)
        found.append(days.newcomers(messages))
    assert found[0] == found[1]
    return set(found[0])


@each(("day", "is_newcomer"), [(0, False), (14, False), (15, True), (400, True)])
def test_who_comes_in_the_first_two_weeks_was_there_from_the_beginning(
    day: int, is_newcomer: bool
) -> None:
    """A young group has no newcomers; who comes later is one."""
    assert newcomers(said("Ann", 0), said("Tom", day)) == ({f"Tom{day}"} if is_newcomer else set())


def test_after_three_days_of_talk_nobody_is_one() -> None:
    """Days count, not messages; what was said before is judged as on its day."""
    tom = [said("Tom", day) for day in (20, 20, 21, 40, 41, 42)]
    found = newcomers(said("Ann", 0), *tom, said("Ann", 42))
    assert found == {"Tom20", "Tom21", "Tom40"}


def test_what_was_forgotten_counts_no_more() -> None:
    """Of a message that was emptied nothing is known; the group is as old as what is left."""
    forgotten = [said("Tom", day, "") for day in (16, 17, 18)]
    assert "Tom19" in newcomers(said("Ann", 0), *forgotten, said("Tom", 19))
    assert newcomers(said("Ann", 0, ""), said("Bob", 19), said("Tom", 20)) == set()


def test_who_has_no_name_and_who_is_no_person_is_none() -> None:
    """Their messages are nobody's in particular, or the bot's."""
    bot = Message.assistant("hello", id="b", speaker="pip", time=BEGAN + timedelta(days=20))
    assert newcomers(said("Ann", 0), said("", 20), bot) == set()
    untimed = Message.user("hello", id="u", speaker="Eve")
    assert newcomers(said("Ann", 0), untimed) == set()


def test_a_message_of_no_time_makes_a_group_no_older() -> None:
    """1970 is where clocks begin that nobody set."""
    unset = Message.user("hello", id="z", speaker="Ann", time=datetime.fromisoformat("1970-01-01"))
    assert newcomers(unset, said("Ann", 0), said("Tom", 3)) == set()
