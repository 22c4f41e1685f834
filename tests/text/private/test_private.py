"""What people mark as private goes, and what is unclear goes with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.settings import PrivateSettings
from pipimem.text.private import (
    PrivateCounts,
    has_mark,
    hide_private,
    without_marks,
    without_private,
)

from tests.cases import each, table

EMPTY = PrivateSettings(marker="")


@each(
    ("text", "kept"),
    table(__file__, "a_private_stretch_is_replaced"),
)
def test_a_private_stretch_is_replaced(text: str, kept: str) -> None:
    """Each form, any case, over lines; a closing tag with nothing open is ordinary text."""
    assert without_private(text) == kept


@each(
    ("text", "kept"),
    table(__file__, "of_nested_stretches_the_outer_one_counts"),
)
def test_of_nested_stretches_the_outer_one_counts(text: str, kept: str) -> None:
    """Forms that cross each other hide what either of them holds."""
    assert without_private(text) == kept


@each(
    "text",
    [
        "<private></private>",
        "<private> \n\u200b</private>",
        "[private][private] [/private][/private]",
    ],
)
def test_an_empty_stretch_vanishes(text: str) -> None:
    """Where nothing was hidden nothing says so."""
    kept, hidden = hide_private(f"a{text}b")
    assert (kept, hidden.stretches) == ("ab", 0)


@each("tag", ["<private>", "<private/>", "<private", "<!-- private -->", "&lt;private&gt;"])
def test_an_unclosed_tag_hides_to_the_end_of_the_message(tag: str) -> None:
    """It is reported; `keep` leaves it, and what is closed goes all the same."""
    text = f"a {tag} my salary\n\nis 5000"
    kept, hidden = hide_private(text)
    assert (kept, hidden.unclosed, hidden.stretches) == ("a [PRIVATE]", 1, 1)
    keep = PrivateSettings(unclosed="keep")
    assert hide_private(text, keep)[0] == text
    assert hide_private(text, keep)[1].unclosed == 1
    assert without_private(f"{tag} b <private>x</private>", keep) == f"{tag} b [PRIVATE]"


def test_our_own_marker_opens_nothing() -> None:
    """The bracket form hides only where it is closed."""
    assert without_private("[PRIVATE] was said. Then 5000") == "[PRIVATE] was said. Then 5000"
    text = "you wrote [PRIVATE], so [private]x[/private] it is"
    assert without_private(text) == "you wrote [PRIVATE], so [PRIVATE] it is"


def test_a_marker_inside_a_stretch_does_not_shorten_it() -> None:
    """Whether somebody typed it or it came back, what stands in a pair goes."""
    assert without_private("[private] x [PRIVATE] y [/private] z") == "[PRIVATE] z"
    assert without_private("[PRIVATE]x[/PRIVATE] z") == "[PRIVATE] z"


@each("marker", ["[PRIVATE]", "[REDACTED]", ""])
def test_the_setting_decides_what_stands_in_its_place(marker: str) -> None:
    """The marker, another one, or nothing."""
    settings = PrivateSettings(marker=marker)  # type: ignore[arg-type]
    assert without_private("a <private>x</private> b", settings) == f"a {marker} b"


def test_the_number_of_lines_can_be_kept() -> None:
    """Also where a stretch was empty, and with Windows line ends."""
    keep = PrivateSettings(keep_lines=True)
    for text in ("a\n<private>x\ny\n</private>\n\n\n\nb", "<private>\r\n\r\n</private>\r\nb"):
        assert len(without_private(text, keep).splitlines()) == len(text.splitlines())


def test_else_no_more_than_two_blank_lines_stay() -> None:
    """A text from which nothing was taken keeps them all."""
    assert without_private("a\n\n\n<private>x</private>\n\n\nb", EMPTY) == "a\n\n\nb"
    assert without_private("a\n\n\n\n\nb") == "a\n\n\n\n\nb"


def test_tags_in_code_are_code_unless_the_setting_counts_them() -> None:
    """Who explains the tag hides nothing."""
    count = PrivateSettings(in_code="count")
    for text in ("use `<private>x</private>` here", "```html\n<private>x</private>\n```\nb"):
        assert without_private(text) == text
        assert "x" not in without_private(text, count)
    assert without_private("a <private>`</private>` 5000</private> b") == "a [PRIVATE] b"


def test_what_was_hidden_is_counted() -> None:
    """Nothing is counted of a text without tags."""
    text = "a <private>x</private> b [private]y[/private]"
    kept, hidden = hide_private(text)
    assert hidden == PrivateCounts(1, 2, len(text), len(kept), 0)
    assert hidden + hidden == PrivateCounts(2, 4, 2 * len(text), 2 * len(kept), 0)
    assert hide_private("[private] alone")[1] == PrivateCounts()


def test_halves_of_a_tag_that_meet_hide_what_follows() -> None:
    """Taking a stretch out must not put a new tag into what is written."""
    text = "<pri<private></private>vate>5000</private> b"
    assert without_private(text) == "[PRIVATE] b"
    many = "<pri" * 9 + "<private></private>" + "vate>" * 9 + "5000"
    assert "5000" not in without_private(many)


def test_the_marks_are_known() -> None:
    """Also that of version 0.1; words in brackets are none."""
    text = "a [PRIVATE] b [REDACTED] c [private] d [Private key]"
    assert without_marks(text).split() == ["a", "b", "c", "d", "[Private", "key]"]
    assert has_mark("x [PRIVATE]")
    assert not has_mark("private [x]")


OPENINGS = {
    "angle": (
        "<private>",
        "< Private reason='x'>",
        "＜ＰＲＩＶＡＴＥ＞",
        "&lt;private&gt;",
        "<p\u200brіvate/>",
        "\\u003cprivate\\u003e",
    ),
    "bracket": ("[private]", "［private］", "【private】", "&#91;PRIVATE ]", "[prıvate]"),
    "comment": ("<!-- private -->", "<!--PRIVATE-->", "&lt;!-- private --&gt;", "<!— ｐrivate —>"),
}
CLOSINGS = {
    "angle": (
        "</private>",
        "< / PRIVATE >",
        "＜／private＞",
        "&#60;/private&#x3e;",
        "<\\/private>",
    ),
    "bracket": ("[/private]", "【/private】", "[ / Prívate ]"),
    "comment": ("<!-- /private -->", "<!--/private-->", "&lt;!-- / private --&gt;"),
}
WORDS = st.sampled_from(
    [
        "hello",
        " ",
        "\n",
        "工资",
        "5 < 6",
        "a & b",
        "[x](y)",
        "`",
        "don`t",
        "~~~",
        "```\n",
        "&lt;",
        "<",
        "[",
        ">",
        "\u200b",
    ]
)
FORMS = st.sampled_from(["angle", "bracket", "comment"])


@st.composite
def stretches(draw: st.DrawFn, depth: int = 3) -> str:
    """A stretch of any form and spelling, with text and stretches in it."""
    form = draw(FORMS)
    inner = WORDS if not depth else st.one_of(WORDS, stretches(depth - 1))
    inside = "".join(draw(st.lists(inner, max_size=4)))
    opening, closing = draw(st.sampled_from(OPENINGS[form])), draw(st.sampled_from(CLOSINGS[form]))
    return f"{opening}SALARY{inside}SALARY{closing}"


COUNT = PrivateSettings(in_code="count")


@pytest.mark.slow
@given(st.lists(WORDS), stretches(), st.lists(st.one_of(WORDS, stretches())))
def test_no_nesting_and_no_spelling_lets_anything_out(
    before: list[str], one: str, after: list[str]
) -> None:
    """What stands inside is gone, whatever stands around it; outside of stretches all stays."""
    text = "".join((*before, one, *after))
    kept, hidden = hide_private(text, COUNT)
    assert "SALARY" not in kept
    assert hidden.stretches >= 1
    assert not hidden.unclosed


@given(st.lists(st.sampled_from(["hello ", "wörld ", "工资 ", "5 < 6 ", "\n"])), stretches())
def test_what_stands_outside_stays(words: list[str], one: str) -> None:
    """Not a word more is taken."""
    around = "".join(words)
    kept = without_private(f"x {around}{one} y", PrivateSettings(keep_lines=True, in_code="count"))
    assert kept.replace("\n", "").startswith(f"x {around}[PRIVATE]".replace("\n", ""))
    assert kept.endswith(" y")


PIECES = st.one_of(
    WORDS,
    st.sampled_from([tag for kinds in (*OPENINGS.values(), *CLOSINGS.values()) for tag in kinds]),
    st.sampled_from(
        ["<private", "</private", "vate>", "<pri", "[PRIVATE]", "priv", "\\", "-->", "]"]
    ),
)


@given(
    st.lists(PIECES).map("".join),
    st.sampled_from(["[PRIVATE]", "[REDACTED]", ""]),
    st.booleans(),
    st.sampled_from(["hide", "keep"]),
    st.sampled_from(["literal", "count"]),
)
def test_hiding_twice_changes_nothing_more(
    text: str, marker: str, lines: bool, unclosed: str, code: str
) -> None:
    """With any settings, of any tags in any order."""
    settings = PrivateSettings(marker, lines, unclosed, code)  # type: ignore[arg-type]
    once = without_private(text, settings)
    assert without_private(once, settings) == once
