"""A private tag is known however it is spelt, and nothing else is taken for one."""

from __future__ import annotations

from pipimem.text.private.tags import Form, Tag, _folded, is_blank, tags

from tests.cases import each, table


@each(
    ("text", "form", "is_closing"),
    table(__file__, "a_tag_is_known"),
)
def test_a_tag_is_known(text: str, form: Form, is_closing: bool) -> None:
    """With where it begins and ends."""
    (tag,) = tags(f"a{text}b")
    assert tag == Tag(form, is_closing, 1, 1 + len(text))


@each(
    "text",
    [
        "<privateer>",
        "<private-data>",
        "<private_key>",
        "[private key",
        "[privately]",
        "<!-- private notes -->",
        "private: int",
        "<p rivate>",
        "x < 5 & y > private",
        "<div private>",
        "&#99999999;private",
        "&#" + "0" * 5000 + "60;private",
        "<",
        "&lt;",
    ],
)
def test_other_text_is_no_tag(text: str) -> None:
    """Other names, other words in brackets, a comment that says more."""
    assert list(tags(text)) == []


def test_a_tag_without_its_end_ends_with_the_name() -> None:
    """What follows is no attribute but what somebody meant to hide."""
    first, second = tags("<private my salary</private b")
    assert (first.end, second.start, second.end) == (8, 18, 27)


def test_attributes_of_a_bracket_hold_no_other_tag() -> None:
    """Else `[private <private>` would swallow the tag that counts."""
    assert [tag.form for tag in tags("[private <private>x")] == ["angle"]


@each(("text", "blank"), [("", True), (" \n\u200b\u00ad", True), ("\u3164", True), ("x", False)])
def test_blank_is_what_shows_nothing(text: str, blank: bool) -> None:
    """White space, and characters without a shape."""
    assert is_blank(text) is blank


@each("in_front", ["&lt;", "<", "\\x3c", "&#60;", "< \\"])
def test_a_sign_in_front_takes_no_part_of_a_tag(in_front: str) -> None:
    """Its search must not read on over the backslash of the next, which is written as an escape."""
    text = rf"{in_front}\u003cprivate\u003e"
    assert [tag.start for tag in tags(text)] == [len(in_front)]


def test_every_form_of_a_bracket_may_begin_and_end_a_tag() -> None:
    """Of the first 65,536 characters: what folds to one, as Unicode decomposes it."""
    missed = []
    for code in range(0x80, 0xFFFF):
        meant = _folded(chr(code))
        around = {"<": f"{chr(code)}private>", "[": f"{chr(code)}private]"}
        around |= {">": f"</private{chr(code)}", "]": f"[/private{chr(code)}"}
        if meant in around and [tag.end for tag in tags(around[meant])] != [len(around[meant])]:
            missed.append(chr(code))
    assert missed == []
