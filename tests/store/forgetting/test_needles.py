"""What is looked for when something is to be forgotten."""

from __future__ import annotations

import pytest
from pipimem.notes.entry import content_id
from pipimem.notes.message import Message
from pipimem.store.forgetting.needles import Needles, blanked_message, without

KEY = b"k" * 32
NEEDLES = Needles.of(["555 0199"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("my number is 555 0199", True),
        ("555\n  0199", True),
        ("- 555\n- 0199", True),
        ("555-0199", False),
        ("", False),
    ],
)
def test_white_space_and_bullets_do_not_hide(text: str, found: bool) -> None:
    """A text that runs over two lines is still that text."""
    assert NEEDLES.are_in(text) is found


def test_case_does_not_hide() -> None:
    """Nor do letters in another case."""
    assert Needles.of(["Alice Likes Tea"]).are_in("alice likes TEA, she says")


def test_empty_texts_are_no_needles() -> None:
    """They would stand everywhere."""
    assert Needles.of(["", "  \n"]).texts == ()


def test_an_entry_goes_whole_and_a_heading_stays_one() -> None:
    """What stood below the heading does not come under another."""
    text = "# Memory\n\n## Call 555 0199\n\n- at noon\n- on 555 0199\n  or later\n- else\n"
    left, gone = without(text, NEEDLES, KEY)
    assert left == "# Memory\n\n## …\n\n- at noon\n- else\n"
    assert gone == [content_id(KEY, "on 555 0199\nor later")]


def test_a_message_is_emptied_and_keeps_its_place() -> None:
    """So that it is not taken in again when it is delivered once more."""
    message = Message.user("call 555 0199", id="m1")
    assert (blanked_message(message, NEEDLES).content, blanked_message(message, NEEDLES).id) == (
        "",
        "m1",
    )
    assert blanked_message(Message.user("lunch?", id="m2"), NEEDLES).content == "lunch?"
    assert blanked_message(Message.user("lunch?", id="m2"), Needles.of([], ["m2"])).content == ""
