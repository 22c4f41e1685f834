"""A dump of a LangGraph store."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.langgraph_store import FORMAT
from pipimem.runtime.transfer.found import FoundEntry

from tests.runtime.transfer.formats.fixtures import entries, fixture, left_out


def test_an_item_is_an_entry_in_the_channel_of_its_namespace() -> None:
    """A value without a text is told as it is."""
    found = fixture(FORMAT)
    assert entries(found) == [("fact", "Prefers dark mode"), ("fact", '{"city": "Porto"}')]
    channels = [one.channel for one in found if isinstance(one, FoundEntry)]
    assert channels == ["users/ann", "users/bob"]
    assert left_out(found) == [("store.json#k3", "an item without a value")]
