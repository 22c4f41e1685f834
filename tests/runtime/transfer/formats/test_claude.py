"""Claude's data export."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.claude import FORMAT

from tests.runtime.transfer.formats.fixtures import fixture, left_out, said


def test_what_was_said_without_thoughts_tools_and_files() -> None:
    """Each is told that is left out."""
    found = fixture(FORMAT)
    assert said(found) == [
        ("user", "", "I eat no nuts.", "Recipes (d1111111)"),
        ("assistant", "", "No nuts then.", "Recipes (d1111111)"),
    ]
    assert left_out(found) == [
        ("conversations.json#d1111111-0000/d1-1", "a file beside a message"),
        ("conversations.json#d1111111-0000/d1-3", "a message without text"),
    ]
