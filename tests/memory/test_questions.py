"""What memory must go on answering."""

from __future__ import annotations

from pipimem.memory.questions import Question, questions
from pipimem.notes.ledger import Asked


def test_the_list_of_people_comes_before_what_was_asked() -> None:
    """One query a line, with words behind an arrow; comments and empty lines are none; the newest question is first."""
    must = (
        "# ours\n\n上线窗口是什么时候？ => 周四，9 点\nwho owns the gateway?\n => nothing asked\n"
    )
    assert questions((Asked("first?"), Asked("second?")), must) == (
        Question("上线窗口是什么时候？", ("周四", "9 点"), is_must=True),
        Question("who owns the gateway?", is_must=True),
        Question("second?"),
        Question("first?"),
    )


def test_a_byte_order_mark_and_windows_lines_are_no_words() -> None:
    """As Notepad saves it."""
    assert questions((), "\ufeff# list\r\nwhere? => Berlin\r\n") == (
        Question("where?", ("Berlin",), is_must=True),
    )
