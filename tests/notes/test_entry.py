"""The bullets and paragraphs of a note, named by their content."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pipimem.notes.entry import Entry, content_id, entries
from pipimem.notes.kinds import File
from pipimem.text.markdown.parser import parsed

from tests.notes.building import KEY

NOTE = """# Memory

Prose that people wrote.

## Facts

- the port is 8080
  - of the gateway
- tea
- tea
-
<!-- a comment -->

## 偏好

* tea
"""


def found(text: str = NOTE) -> tuple[Entry, ...]:
    return entries(parsed(text), KEY, File.MEMORY)


def test_bullets_and_paragraphs_are_entries_and_nothing_else_is() -> None:
    """A sub-bullet belongs to its bullet; comments and empty bullets are none."""
    assert [(e.section, e.text.split("\n")[0], e.bullet, e.start, e.end) for e in found()] == [
        ("Memory", "Prose that people wrote.", False, 2, 3),
        ("Facts", found()[1].text.split("\n")[0], True, 6, 8),
        ("Facts", "tea", True, 8, 9),
        ("Facts", "tea", True, 9, 10),
        ("偏好", "tea", True, 15, 16),
    ]
    assert found()[1].text.startswith("the port is 8080")
    assert "of the gateway" in found()[1].text


def test_equal_texts_of_a_section_are_counted() -> None:
    """The second tea of Facts is `.2`; that of another section is a first again."""
    name = content_id(KEY, "tea")
    assert [e.ref for e in found()[2:]] == [name, f"{name}.2", name]
    assert [(e.target.section, e.target.ordinal) for e in found()[2:]] == [
        ("Facts", 1),
        ("Facts", 2),
        ("偏好", 1),
    ]


def test_an_id_tells_nothing_to_another_channel() -> None:
    """Eight letters and digits under the channel's key."""
    name = content_id(KEY, "林晓喝茶")
    assert len(name) == 8
    assert name.isalnum()
    assert name != content_id(b"another key", "林晓喝茶")


@given(st.text(), st.sampled_from([" ", "\n", "\t "]))
def test_white_space_is_no_difference(text: str, space: str) -> None:
    """Wrapping a line by hand keeps its id; any text has one."""
    assert content_id(KEY, f"a {text}") == content_id(KEY, f"{space}a{space}{text}{space}")


def test_other_letters_are_another_entry() -> None:
    """Case and one digit make a difference."""
    assert len({content_id(KEY, text) for text in ("port 8080", "Port 8080", "port 8081")}) == 3
