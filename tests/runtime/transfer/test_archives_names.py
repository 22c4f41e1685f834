"""Names in a text, replaced."""

from __future__ import annotations

from pipimem.runtime.transfer.archives import without_names

from tests.cases import each, table


@each(
    ("text", "left"),
    table(__file__, "a_name_is_a_word_of_its_own_unless_it_is_chinese"),
)
def test_a_name_is_a_word_of_its_own_unless_it_is_chinese(text: str, left: str) -> None:
    """The longer name goes first, and capitals make no difference."""
    placeholders = {"Tom": "[1]", "王小明": "[2]", "Tom Li": "[3]", "José": "[4]", "": "[5]"}
    assert without_names(text, placeholders) == left
