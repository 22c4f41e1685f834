"""Whether a message goes on with the sentence of the one before it."""

from __future__ import annotations

from pipimem.text.open_sentences import goes_on

from tests.cases import each


@each(
    ("before", "after", "does"),
    [
        ("We meet", "at the station", True),
        ("We meet at the", "Station", True),
        ("we meet at five", "and then we eat", True),
        ("Bring these:", "Bread", True),
        ("we meet at five", "i bring bread", False),
        ("We meet at five", "Bring bread", False),
        ("We meet at five.", "and then we eat", False),
        ("see https://files.example/in", "Bread is there", False),
        ("我们周五", "并且周六见", True),
        ("我把", "面包带来", True),
        ("他喜欢吃香", "蕉", True),
        ("我们周五见", "带上面包", False),
        ("我们周五见。", "并且带上面包", False),
        ("", "bread", False),
        ("bread", "", False),
    ],
)
def test_goes_on(before: str, after: str, does: bool) -> None:
    """By its signs, by case, by words at the edges, by a word that stands across both."""
    assert goes_on(before, after) is does
