"""Answers of models against what was said: what is left out, and what is taken as it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pipimem.memory.checked import checked
from pipimem.notes.kinds import File, Kind
from pipimem.notes.message import Message
from pipimem.sidecar.tasks import Consolidate, Consolidated, HistoryItem, KnownEntry, Learned

from tests.notes.building import NOW


def message(name: str, speaker: str, text: str, role: str = "user", number: int = 1) -> Message:
    return Message(role, text, name, NOW + timedelta(minutes=7), speaker, "", number)  # type: ignore[arg-type]


TALK = (
    message("a1", "Ida", "decision: the lab closes at 19:00 from now on"),
    message("a2", "Bram", "I am allergic to kiwi"),
)
HOME = (
    message("b1", "Sam", "my rent is $1,200 and I have three kids, 预算每月一万五"),
    message("b2", "", "Put 20% aside, that is 240; see https://bank.example/plan", "assistant"),
    message("b3", "Sam", "good, I'll do that. We moved from Canada to the United Kingdom at noon"),
)


def wrong(item: Learned, talk: tuple[Message, ...] = TALK, *memory: str) -> str:
    """Why a fact is left out; empty if it is taken as it is."""
    known = tuple(KnownEntry(f"k{at}", "Facts", text) for at, text in enumerate(memory))
    task = Consolidate(NOW, tuple(one.speaker for one in talk), known, talk)
    kept, left_out = checked(Consolidated((item,)), task)
    assert len(kept.learned) + len(left_out) == 1
    return left_out[0].reason if left_out else ""


def fact(text: str, source: str, speaker: str) -> Learned:
    return Learned(Kind.FACT, text, (source,), speaker)


@pytest.mark.parametrize(
    ("text", "source", "speaker", "reason"),
    [
        ("Ida is allergic to kiwi", "a2", "Ida", "Ida did not say its sources"),
        (
            "Tom opened his own bike shop on 2026-05-02, after nine years at a bank",
            "a1",
            "Ida",
            "it is an example of the prompt",
        ),
        (
            "John Doe is a software engineer in Seattle, 32 years old",
            "a2",
            "Bram",
            "the number 32 stands nowhere",
        ),
        ("Bram works in Seattle", "a2", "Bram", "the name Seattle stands nowhere"),
        ("John Doe is allergic to kiwi", "a2", "Bram", "the name John stands nowhere"),
        ("Tom is allergic to kiwi", "a2", "Bram", "the name Tom stands nowhere"),
        ("The lab closes at 18:00", "a1", "Ida", "the time 18:00 stands nowhere"),
        ("The lab closes at 19:20", "a1", "Ida", "the time 19:20 stands nowhere"),
        ("实验室从现在起19点关门", "a1", "Ida", "it is in another language than what was said"),
        (
            "Bram is allergic to kiwi, see https://evil.example/a",
            "a2",
            "Bram",
            "the link https://evil.example/a stands nowhere",
        ),
        ("Bram is allergic to kiwi, mail ida@evil.example", "a2", "Bram", "the link"),
    ],
)
def test_what_was_not_said_is_left_out(text: str, source: str, speaker: str, reason: str) -> None:
    assert wrong(fact(text, source, speaker)).startswith(reason)


def test_full_width_signs_are_the_same_signs() -> None:
    """In what was said and in the answer."""
    talk = (message("a1", "Ida", "我住在海港路１２３号"), message("a2", "Ida", "Gate B7 at 18:30"))
    assert wrong(fact("Ida 住在海港路123号", "a1", "Ida"), talk) == ""
    assert wrong(fact("Ida is at gate Ｂ７ at 18：30", "a2", "Ida"), talk) == ""


def test_a_source_of_the_bot_lends_nobody_a_name() -> None:
    """Beside what a person said the answer of the bot says nothing of who said it."""
    talk = (*TALK, message("a3", "", "Noted, Bram.", "assistant"))
    item = Learned(Kind.HEALTH, "Ida is allergic to kiwi", ("a2", "a3"), "Ida")
    assert wrong(item, talk) == "Ida did not say its sources"


@pytest.mark.parametrize(
    ("text", "source", "speaker"),
    [
        ("The lab closes at 19:00 by Ida's decision", "a1", "Ida"),
        ("The lab closes at 7 in the evening", "a1", "Ida"),
        ("Decided on 2026-03-11: the lab closes at 19:00 from 2027 on", "a1", "ida"),
        ("Kiwi: Bram is allergic", "a2", "Bram Stoker"),
        ("Bram is allergic to kiwi", "a2", ""),
        ("Lunch by Bram never has kiwi", "a2", "Bram"),
    ],
)
def test_what_was_said_is_taken(text: str, source: str, speaker: str) -> None:
    """Days are free, a time may be that of another clock, the first word any word."""
    assert wrong(fact(text, source, speaker)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Sam pays 1200 for rent and has 3 kids",
        "Sam pays 1.2k for rent",
        "Sam 每月预算 15000",
        "Sam is Canadian and lives in the UK since 12:00",
        "Sam's plan is at https://bank.example/plan.",
        "Sam's flat is at 14 Rowan Road",
    ],
)
def test_numbers_and_names_may_be_written_another_way(text: str) -> None:
    """1,200 as 1.2k, three as 3, 一万五 as 15000, a country as its people; memory counts, too."""
    assert wrong(fact(text, "b1", "Sam"), HOME, "the flat at 14 Rowan Road") == ""


def test_a_number_that_only_the_bot_named_is_marked() -> None:
    """In facts, unless they tell by themselves whose number it is."""
    task = Consolidate(NOW, ("Sam",), (), HOME)
    texts = ("Sam puts 240 aside", "Sam puts the 240 proposed by the assistant aside")
    answer = Consolidated(
        tuple(fact(text, "b3", "Sam") for text in texts),
        history=(HistoryItem("Sam will put 240 aside", ("b2", "b3")),),
    )
    kept, left_out = checked(answer, task)
    assert [item.text for item in kept.learned] == [f"{texts[0]} (assumed: 240)", texts[1]]
    assert kept.history == answer.history
    assert left_out == ()


def test_history_sheet_and_title_are_checked_as_facts_are() -> None:
    """What is left out says where it would have stood, and what it rests on."""
    answer = Consolidated(
        title="A talk with John Doe",
        history=(
            HistoryItem("The lab closes at 19:00", ("a1",)),
            HistoryItem("Bram flew to Seattle", ("a2",)),
        ),
        sheet={"Current State": ("the lab closes at 19:00", "Bram has 32 kiwis")},
    )
    kept, left_out = checked(answer, Consolidate(NOW, ("Ida", "Bram"), (), TALK))
    assert (kept.title, kept.history) == ("", answer.history[:1])
    assert kept.sheet == {"Current State": ("the lab closes at 19:00",)}
    assert [(one.file, one.text, one.sources, one.speaker) for one in left_out] == [
        (File.HISTORY, "Bram flew to Seattle", ("a2",), "Bram"),
        (File.SESSION, "Bram has 32 kiwis", (), ""),
    ]


def test_the_lead_in_and_what_was_told_count() -> None:
    """A window begins in the middle of a talk."""
    before = (message("z1", "Ida", "my bike is a Gazelle of 1998, number 77"),)
    task = Consolidate(NOW, ("Ida",), (), TALK, None, ("they were in Ghent",), before)
    item = fact("Ida took the Gazelle, number 77, to Ghent", "a1", "Ida")
    assert checked(Consolidated((item,)), task) == (Consolidated((item,)), ())


def test_a_long_window_is_checked_in_time() -> None:
    """Twenty facts against 28,000 characters."""
    talk = tuple(message(f"m{n}", "Ida", f"thing {n} costs {n * 7} euros " * 9) for n in range(100))
    items = tuple(fact(f"Thing {n} costs {n * 7} euros", f"m{n}", "Ida") for n in range(20))
    begin = datetime.now(UTC)
    kept, _ = checked(Consolidated(items), Consolidate(NOW, ("Ida",), (), talk))
    assert kept.learned == items
    assert datetime.now(UTC) - begin < timedelta(seconds=2)
