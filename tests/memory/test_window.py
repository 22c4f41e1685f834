"""What of the transcript a thought may see."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.memory.window import windows
from pipimem.notes.message import Message
from pipimem.text.fence import fenced


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
