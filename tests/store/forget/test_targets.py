"""What is looked for when something is to be forgotten."""

from __future__ import annotations

from pipimem.notes.entry import content_id
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.store.forget.targets import ForgetTargets, blanked_ledger, blanked_message, without

from tests.cases import each, table

KEY = b"k" * 32
NEEDLES = ForgetTargets.of(["555 0199"])


@each(
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
    assert ForgetTargets.of(["Alice Likes Tea"]).are_in("alice likes TEA, she says")


@each(
    ("needle", "text", "found"),
    table(__file__, "a_word_is_not_found_inside_another"),
)
def test_a_word_is_not_found_inside_another(needle: str, text: str, found: bool) -> None:
    """Where a script puts blanks between words; Chinese is found anywhere, and so is everything
    on request.
    """
    assert ForgetTargets.of([needle]).are_in(text) is found
    assert ForgetTargets.of([needle], inside_words=True).are_in(text) is (needle != "Rene")


def test_empty_texts_are_no_needles() -> None:
    """They would stand everywhere."""
    assert ForgetTargets.of(["", "  \n"]).texts == ()


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
    assert (
        blanked_message(Message.user("lunch?", id="m2"), ForgetTargets.of([], ["m2"])).content == ""
    )


def test_who_said_nothing_else_is_no_speaker_any_more() -> None:
    """The name leaves an empty place; who said more, and who is not told of, stays."""
    ledger = Ledger(speakers=("Dana", "Tom", "Ines"))
    told = (("1", "Dana", "a"), ("2", "Tom", "b"), ("3", "Dana", "c"), ("4", "Tom", ""))
    said = [Message.user(text, id=name, speaker=who) for name, who, text in told]
    targets = ForgetTargets.of([], ["1", "2"])
    assert blanked_ledger(ledger, targets, said).speakers == ("Dana", "", "Ines")
    assert blanked_ledger(ledger, ForgetTargets.of(["Ines"])).speakers == ("Dana", "Tom", "")


def test_entries_that_stand_no_more_go_from_notes_and_never_from_what_people_said() -> None:
    """Somebody else may have said the same words: their message stays as it is."""
    targets = ForgetTargets((), frozenset({"m1"}), lines={"tom lives in berlin": ""})
    said = Message.user("Tom lives in Berlin", id="m2", speaker="ann")
    assert blanked_message(said, targets) == said
    assert without("- Tom lives in Berlin\n- Tom lives in Berlin, says ann\n", targets, KEY)[0] == (
        "- Tom lives in Berlin, says ann\n"
    )
