"""Lines that repeat what memory had shown are not learnt again."""

from __future__ import annotations

from pipimem.memory.recalled_lines import without_recalled_lines
from pipimem.memory.window import Window
from pipimem.notes.message import Message

from tests.cases import each, table
from tests.notes.building import notes_of

NOTES = notes_of(
    "## Constraints\n\n- we never deploy on Fridays, says the team\n- 生产环境周五不发布新版本\n- a <b> tag\n"
)


def cleaned(content: str) -> list[str]:
    """What is left of a person's message."""
    window = Window((Message.user(content, id="m1", speaker="Tom"),), 1, 1)
    return [one.content for one in without_recalled_lines(window, NOTES).messages]


@each(
    "line",
    table(__file__, "a_quoted_line_goes"),
)
def test_a_quoted_line_goes(line: str) -> None:
    """Whole or cut off, with who and when or without, escaped as a block has it."""
    assert cleaned(f"you told me:\n{line}\nwhy?") == ["you told me:\nwhy?"]
    assert cleaned(line) == []


@each(
    "line",
    [
        "we never deploy on Fridays, says the team",
        "- we never deploy on Mondays, says the team",
        "- the team",
        "“we never deploy on Fridays, says the team” is over: from now on we do",
    ],
)
def test_what_a_person_says_themselves_stays(line: str) -> None:
    """Said again, said otherwise, a few common words, or a quotation that something is said of."""
    assert cleaned(line) == [line]
