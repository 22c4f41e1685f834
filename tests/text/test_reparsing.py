"""A change is read without reading the rest again, and nobody can tell the difference."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pipimem.notes.files import File
from pipimem.notes.notes import Note
from pipimem.text.markdown import parsed
from pipimem.text.reparsing import reparsed

KEY = b"a key of a channel"
LINES = (
    "# One", "## Two", "## Two", "- a fact", "- a fact", "- another", "* star", "1. first", "2. second", "  - nested",
    "  goes on", "goes on lazily", "    code", "", "", "  ", "a paragraph", "---", "===", "```", "- ```py", "~~~", "<!--",
    "-->", "- x <!-- y", "<!-- a comment -->", "text <!-- open", "| a | b |", "|---|---|", "<div>", "</div>", "<pre>",
    "</pre>", "> quoted", "- ", "-", "\ufeff- mark", "#tag", "     - far in", "- `code` <b>", "***",
)  # fmt: skip
ENDINGS = ("\n", "\n", "\n", "\r\n", "\r", "")
FEW = "- the gateway\n- the cache\n\n## Facts\n\n- one\n- two\n- three\n\n## Decisions\n\n- four\n- five\n"


def texts() -> st.SearchStrategy[str]:
    line = st.tuples(st.sampled_from(LINES), st.sampled_from(ENDINGS)).map("".join)
    calm = st.sampled_from([f"- fact {n}\n" for n in range(40)] + [f"{line}\n" for line in LINES[:12]])
    return st.one_of(st.lists(line, max_size=30), st.lists(calm, max_size=40)).map("".join)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and the text with one stretch of it replaced."""
    before, added = draw(texts()), draw(st.one_of(texts(), st.sampled_from(LINES)))
    start = draw(st.integers(0, len(before)))
    end = draw(st.integers(start, min(len(before), start + 20)))
    return before, before[:start] + added + before[end:]


@given(changes())
@example((FEW, FEW.replace("- two\n", "- two and a half\n")))
@example(("- a\r- b\r\n", "- a\r\n- b\r\n"))
@settings(max_examples=600)
def test_a_change_reads_as_the_whole_text_does(change: tuple[str, str]) -> None:
    """Whatever stands around it, and whatever the change opens or closes."""
    before, after = change
    anew = reparsed(parsed(before), before, after)
    assert anew is None or anew.document == parsed(after)


@given(changes())
@settings(max_examples=300)
def test_the_entries_are_those_of_the_whole_text(change: tuple[str, str]) -> None:
    """Ids, ordinals and lines, too."""
    before, after = change
    like = Note.read(File.MEMORY, before, KEY)
    assert Note.read(File.MEMORY, after, KEY, like=like) == Note.read(File.MEMORY, after, KEY)


def test_what_did_not_change_is_taken_over() -> None:
    """In a file of bullets a reworded one leaves the others as they are, the very same values."""
    like = Note.read(File.MEMORY, FEW, KEY)
    after = Note.read(File.MEMORY, FEW.replace("- two\n", "- two and a half\n"), KEY, like=like)
    same = [new is old for new, old in zip(after.entries, like.entries, strict=True)]
    # The bullet above the change begins what is read again.
    assert same == [True, True, False, False, True, True, True]
    assert after.document.sections[2] is like.document.sections[2]


def test_a_bullet_more_moves_those_below_it() -> None:
    """They are not read again, but their lines are others."""
    like = Note.read(File.MEMORY, FEW, KEY)
    longer = FEW.replace("- two\n", "- two\n- and this\n  with a second line\n")
    change = reparsed(like.document, FEW, longer)
    assert change is not None
    assert (change.start, change.old_end, change.end) == (6, 9, 11)
    assert Note.read(File.MEMORY, longer, KEY, like=like) == Note.read(File.MEMORY, longer, KEY)


def test_a_fence_that_swallows_what_follows_is_read_as_a_whole() -> None:
    """Nothing below the change begins where it did."""
    assert reparsed(parsed(FEW), FEW, FEW.replace("- one\n", "- one\n\n```\n")) is None
