"""What a person's draft makes of an entry's lines, and which drafts are refused."""

from __future__ import annotations

import pytest
from pipimem import PipimemError
from pipimem.runtime.note_edits import entry_words, replaced_entry, with_words
from pipimem.text.markdown.parser import parsed


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("- one\n", "one"),
        ("- one", "one"),
        ("* one\r\n  two\r\n", "one\ntwo"),
        ("12) one\n    two\n      three\n", "one\ntwo\n  three"),
        ("  - one\n    - two\n", "one\n- two"),
        ("- one\nlazy\n", "one\nlazy"),
        ("- one\n\n  ```\n  x = 1\n  ```\n", "one\n\n```\nx = 1\n```"),
        ("-\n  one\n", "one"),
        ("A paragraph.\nIts end.\n", "A paragraph.\nIts end."),
        ("\ufeff- one\n", "one"),
        ("- one <!-- m-1 -->\n", "one <!-- m-1 -->"),
    ],
)
def test_the_words_of_an_entry_and_its_lines_again(source: str, words: str) -> None:
    """What was not changed keeps its lines byte by byte, but for line ends."""
    assert entry_words(source) == words
    assert with_words(source, words) == source.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("source", "draft", "lines"),
    [
        ("- one\n", "two", "- two\n"),
        ("- one\n", "- two", "- two\n"),
        ("- one\n", "* two\n  more\n", "- two\n  more\n"),
        ("1. one\n", "1. two", "1. two\n"),
        ("- one\n", "3. May is the day", "- 3. May is the day\n"),
        ("- one", "two\nmore", "- two\n  more"),
        ("- one\n", "two\n\n- more", "- two\n\n  - more\n"),
        ("12) one\n    two\n", "one\nthree\ntwo", "12) one\n    three\n    two\n"),
        ("- one\nlazy\n", "two\nlazy\nmore", "- two\nlazy\n  more\n"),
        ("- one\n", "`<!--` begins a comment", "- `<!--` begins a comment\n"),
        ("- one\n", "#1 of them", "- #1 of them\n"),
        ("- one\n", "two\n```\n# no heading\n```", "- two\n  ```\n  # no heading\n  ```\n"),
        ("One.\n", "- Two.", "Two.\n"),
        ("- one\n", "\n\n   two \n\n", "- two \n"),
    ],
)
def test_other_words_get_the_bullet_and_the_indentation(
    source: str, draft: str, lines: str
) -> None:
    """A bullet that is typed before them is the entry's own; a number belongs to the words."""
    assert with_words(source, draft) == lines


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        ("", "needs words"),
        (" \n\t\n", "needs words"),
        ("<!-- two -->", "needs words"),
        ("## two", "a heading"),
        ("two\n===", "a heading"),
        ("two\n\n# three", "a heading"),
        ("- two\n- three", "several entries"),
        ("- two\n\nthree", "several entries"),
        ("```\ntwo", "one entry"),
        ("two\n~~~", "one entry"),
        ("<!-- two", "one entry"),
        ("<!-- two --> three\n<!-- four", "one entry"),
        ("<pre>two", "one entry"),
    ],
)
def test_words_that_cannot_be_one_entry_are_refused(draft: str, why: str) -> None:
    """Each with its reason."""
    with pytest.raises(PipimemError, match=why):
        with_words("- one\n", draft)


@pytest.mark.parametrize(
    ("text", "line", "source"),
    [
        ("- a\n- b\n- c\n", 1, "b\n"),
        ("- a\n- b\n- c\n", 1, "- b\n- d\n"),
        ("- a\n- b\n- c\n", 1, "- b\n\nd\n"),
        ("- a\n- b\n- c\n", 1, "## b\n"),
        ("- a\n- b\n- c\n", 1, "- - -\n"),
        ("- a\n- b\n- c\n", 2, "<!-- c -->\n"),
        ("a\n\n- b\n\nc\n", 2, "- ```\n  b\n"),
        ("a\n\n- b\n- c -->\n", 2, "- b <!--\n"),
        ("a\n- b\n---\n", 1, ""),
        ("a\n\nb\n\nc\n", 2, "b\n\nd\n"),
        ("a\n\nb\n\nc\n", 2, "- b\n"),
    ],
)
def test_lines_that_change_more_than_their_entry_are_refused(
    text: str, line: int, source: str
) -> None:
    """They fuse two entries, make two, none, a heading, or swallow what follows."""
    document = parsed(text)
    blocks = [block for section in document.sections for block in section.blocks]
    end = next(block.end for block in blocks if block.start == line)
    with pytest.raises(PipimemError, match="one entry"):
        replaced_entry(document, line, end, source)
