"""One change of a text taken back, while later ones stay."""

from __future__ import annotations

from pipimem.store.history.undo import clash, reverted

from tests.cases import each

FACTS = "# Memory\n\n## Facts\n\n"


@each(
    ("before", "after", "now", "left"),
    [
        ("- a\n", "- a\n- b\n", "- a\n- b\n", "- a\n"),
        ("- a\n", "- a\n- b\n", "- a\n- b\n- c\n", "- a\n- c\n"),
        ("- a\n", "- b\n", "- b\n- c\n", "- a\n- c\n"),
        ("- a\n- b\n", "- a\n", "- a\n- c\n", "- a\n- c\n- b\n"),
        ("", FACTS + "- a\n", FACTS + "- a\n- b\n", FACTS + "- b\n"),
        ("- a\n", "- a\n- b\n- c\n", "- a\n- b\n- x\n- c\n", "- a\n- x\n"),
        ("- a", "- a\r\n- b\r\n", "- a\r\n- b\r\n- c\r\n", "- a\r\n- c\r\n"),
        ("- a\n", "- a\n- b\n", "- a\n", None),
        ("- a\n", "- b\n", "- c\n", None),
        (
            FACTS + "- a\n",
            FACTS + "- a\n## Ours\n",
            FACTS + "- a\n## Ours\n- b\n",
            None,
        ),
        ("- a\n", "- a\n\n", "- a\n- b\n\n", "- a\n- b\n"),
    ],
)
def test_the_change_goes_and_the_rest_stays(
    before: str, after: str, now: str, left: str | None
) -> None:
    """Or nothing does, where lines of it were changed again, or are needed."""
    assert reverted(before, after, now) == left


def test_the_lines_that_were_changed_again_are_named() -> None:
    """A heading is not: it may stay."""
    assert clash("- a\n", "- a\n- b\n", "- a\n") == ("- b\n",)
    assert clash("- a\n", "- a\n## B\n- b\n", "- a\n## C\n- b\n") == ()


def test_a_line_typed_below_an_entry_does_not_go_to_the_one_before() -> None:
    """It would change what that one says."""
    assert reverted("- a\n", "- a\n- b\n", "- a\n- b\n  more\n") is None


def test_a_change_that_moved_an_entry_moves_it_back() -> None:
    """Where it stood before the change it may go back to; an entry that came later may not go
    there with it.
    """
    before, after = "## A\n- a\n- b\n", "## A\n- a\n## B\n- b\n"
    assert reverted(before, after, after.replace("- a", "- z\n- a")) == "## A\n- z\n- a\n- b\n"
    assert reverted(before, after, after + "- c\n") is None
