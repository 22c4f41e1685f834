"""What of the transcript a thought may see."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from msgspec.structs import replace
from pipimem.memory.window import windows
from pipimem.notes.message import Message
from pipimem.text.fence import fenced

from tests.notes.building import NOW


def message(number: int, content: str, role: str = "user", speaker: str = "Dana") -> Message:
    return Message(role, content, f"m{number}", None, speaker, "", number)  # type: ignore[arg-type]


def contents(*messages: Message) -> list[str]:
    return [m.content for window in windows(messages) for m in window.messages]


def test_injected_memory_is_not_learnt_again() -> None:
    """A block that memory put before the turn is taken out of what the user said."""
    block = fenced([("MEMORY: Facts", ["the port is 8080"])], b"a channel's key")
    assert contents(message(1, f"{block}\nwhat is new?")) == ["what is new?"]


def test_commands_and_own_tools_never_enter() -> None:
    """What was typed to the memory, and what its tools answered, is no talk."""
    assert contents(
        message(1, "/memory"), message(2, "x", "tool", "memory_search"), message(3, "hello")
    ) == ["hello"]


def test_tool_output_is_clipped_and_freed_of_noise() -> None:
    """Progress bars go, the head and the tail stay; the rest of the window is untouched."""
    output = (
        "pulling 12%\n2026-03-02 10:00:00 DEBUG tick\n----\nstarted build\n"
        + "x" * 2000
        + "\nERROR: disk full"
    )
    [text] = contents(message(1, output, "tool", "shell"))
    assert text.startswith("started build")
    assert text.endswith("ERROR: disk full")
    assert len(text) < 700


def test_long_talk_goes_in_slices_that_cover_every_number() -> None:
    """The slices follow each other without a gap, so the cursor can move slice by slice."""
    slices = list(windows([message(n, "w" * 1000) for n in range(1, 101)], chars=28_000))
    assert [window.first for window in slices[1:]] == [window.last + 1 for window in slices[:-1]]
    assert (slices[0].first, slices[-1].last) == (1, 100)
    assert all(sum(len(m.content) for m in window.messages) <= 28_000 for window in slices)


def at(minutes: int, one: Message) -> Message:
    return dataclasses.replace(one, time=NOW + timedelta(minutes=minutes))


def test_a_full_slice_ends_after_the_bots_answer() -> None:
    """Never between a question and its answer, if one of the two fits."""
    talk = []
    for number in range(1, 41, 2):
        talk += [
            message(number, "q" * 50),
            message(number + 1, f"{number:0400}", "assistant", "bot"),
        ]
    slices = list(windows(talk, chars=1_000))
    assert {len(window.messages) for window in slices} == {4}
    assert all(window.messages[-1].role == "assistant" for window in slices)
    assert [window.first for window in slices[1:]] == [window.last + 1 for window in slices[:-1]]
    [*halves] = windows(talk[:2], chars=100)
    assert [len(window.messages) for window in halves] == [1, 1]


def test_a_full_slice_ends_at_the_last_pause_of_an_hour() -> None:
    """In its second half: an earlier one would make a window of little talk."""
    pauses = {3: 60, 7: 60, 8: 59}
    minutes, talk = 0, []
    for number in range(1, 13):
        minutes += pauses.get(number, 1)
        talk.append(at(minutes, message(number, "w" * 100, speaker=f"P{number % 2}")))
    assert [window.last for window in windows(talk, chars=1_000)] == [6, 12]
    assert next(windows(talk, chars=500)).last == 5


def test_in_a_group_a_slice_is_as_long_as_it_can_be() -> None:
    """The bot answered once, at the beginning: that is no place to end. It answers again where
    the slice is full: the question goes along.
    """
    talk = [message(1, "q"), message(2, "a", "assistant", "bot")]
    talk += [message(n, "w" * 100) for n in range(3, 13)]
    assert [window.last for window in windows(talk, chars=500)] == [6, 11, 12]
    talk[6] = message(7, "a" * 100, "assistant", "bot")
    assert next(windows(talk, chars=500)).last == 5


def test_a_pause_before_an_answer_is_none() -> None:
    """The bot answers after an hour: question and answer stay together."""
    talk = [at(n, message(n, "w" * 100)) for n in range(1, 9)]
    talk.append(at(100, message(9, "a" * 100, "assistant", "bot")))
    talk += [at(100 + n, message(n, "w" * 100)) for n in range(10, 13)]
    assert [window.last for window in windows(talk, chars=1_000)] == [9, 12]


LONG = "\n".join(
    ("Of course!", "", "### Plan", *(f"- **Step {n}:** {'word ' * 60}{n}" for n in range(40)), "Shall we?")
)  # fmt: skip


def test_a_long_answer_of_the_bot_is_shortened_in_the_middle() -> None:
    """How it begins and ends stays, and the first words of what is between; a person's message
    stays whole.
    """
    [short] = contents(message(1, LONG[:3_000], "assistant", "bot"))
    assert short.startswith("Of course!\n\n### Plan\n- **Step 0:** word")
    assert short.endswith(LONG[2_850:3_000].strip())
    assert "- **Step 5:** word" in short
    assert len(short) <= 1_600
    steps = [f"- **Step {n}:** word word" for n in range(26)]
    assert all(step in short for step in steps[:9])
    [many] = contents(message(1, LONG[:8_000], "assistant", "bot"))
    assert all(step in many for step in steps)
    [longer] = contents(message(1, LONG * 9, "assistant", "bot"))
    assert len(longer) <= 1_600
    assert longer.endswith("Shall we?")
    assert contents(message(1, LONG[:3_000])) == [LONG[:3_000].strip()]
    assert len(contents(message(1, LONG * 9))[0]) <= 4_000


def test_a_table_that_the_bot_repeats_is_sent_once() -> None:
    """In one window; the next one has it again, and what people repeat is theirs."""
    table = "| item | cost |\n" + "".join(f"| thing {n} | {n} |\n" for n in range(9))
    talk = [
        message(1, f"First:\n\n{table}", "assistant", "bot"),
        message(2, f"Look:\n\n{table}"),
        message(3, f"Again:\n\n{table}\nDone.", "assistant", "bot"),
    ]
    first, second, third = contents(*talk)
    assert ("thing 8" in first, "thing 8" in second) == (True, True)
    assert third == "Again:\n\n[as above]\n\nDone."
    assert "thing 8" in contents(talk[2])[0]


def test_a_window_of_nothing_still_moves_the_cursor() -> None:
    """Commands alone leave an empty window that knows how far it reaches."""
    [window] = windows([message(1, "/new"), message(2, "/usage")])
    assert (window.messages, window.last, window.exchanged) == ((), 2, False)


def test_an_exchange_needs_an_answer() -> None:
    """One line is no exchange, a question and its answer are."""
    [alone] = windows([message(1, "hello")])
    [answered] = windows([message(1, "hello"), message(2, "hi", "assistant", "bot")])
    assert (alone.exchanged, answered.exchanged) == (False, True)


def test_a_direct_chat_has_one_person_and_the_kind() -> None:
    """Who spoke before counts, and a group of one so far is none."""
    [window] = windows([message(1, "hi"), message(2, "hello", "assistant", "bot")])
    direct = replace(window, is_dm=True)
    assert direct.is_direct(())
    assert direct.is_direct(["Dana"])
    assert not direct.is_direct(["Bob"])
    assert not window.is_direct(())


def test_what_its_speaker_asks_not_to_note_no_model_sees() -> None:
    """With what the bot answered, also where it is asked behind it or in Chinese; talk of it stays."""
    assert contents(
        message(1, "the shop opens on Monday"),
        message(2, "off the record: I am looking for another flat"),
        message(3, "I will keep that to myself", "assistant", "bot"),
        message(4, "别记下来：我打算卖车"),
        message(5, "the record shop is closed"),
    ) == ["the shop opens on Monday", "the record shop is closed"]
    [window] = windows([message(1, "off the record: I am moving")])
    assert (window.messages, window.last) == ((), 1)


def test_what_is_asked_in_the_next_slice_holds_for_the_one_before() -> None:
    """And what the bot answers there to what was off the record is left out as well."""
    slices = windows(
        [
            message(1, "x" * 60),
            message(2, "my salary is going up in May"),
            message(3, "please don't write that down"),
            message(4, "off the record: I am leaving the firm"),
            message(5, "y" * 60, "assistant", "bot"),
            message(6, "lunch is at noon"),
        ],
        chars=90,
    )
    assert [one.content for window in slices for one in window.messages] == [
        "x" * 60,
        "lunch is at noon",
    ]


def test_an_entry_about_a_secret_hides_no_message() -> None:
    """What memory put before a message is not what its speaker said."""
    block = fenced([("MEMORY: Facts", ["Ann: this is confidential"])], b"a channel's key")
    assert contents(message(1, f"{block}\nthe fair is on 3 May")) == ["the fair is on 3 May"]
