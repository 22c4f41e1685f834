"""Names in a text, replaced."""

from __future__ import annotations

from pipimem.text.names import without_names

from tests.cases import each


@each(
    ("text", "left"),
    [
        ("Tom said", "[1] said"),
        ("TOM's tea", "[1]'s tea"),
        ("tomorrow, Atom, tom_2", "tomorrow, Atom, tom_2"),
        ("问Tom要", "问[1]要"),
        ("王小明来了", "[2]来了"),
        ("Tom Li and Tom", "[3] and [1]"),
        ("José, Joséphine", "[4], Joséphine"),
    ],
)
def test_a_name_is_a_word_of_its_own_unless_it_is_chinese(text: str, left: str) -> None:
    """The longer name goes first, and capitals make no difference."""
    placeholders = {"Tom": "[1]", "王小明": "[2]", "Tom Li": "[3]", "José": "[4]", "": "[5]"}
    assert without_names(text, placeholders) == left
