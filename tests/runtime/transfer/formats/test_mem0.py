"""Memories of mem0."""

from __future__ import annotations

import json
from pathlib import Path

from pipimem.runtime.transfer.formats.mem0 import FORMAT
from pipimem.runtime.transfer.found import FoundEntry

from tests.runtime.transfer.formats.fixtures import entries, fixture, found_in, left_out


def test_an_entry_for_each_memory() -> None:
    """With its id as origin; an empty one is left out."""
    found = fixture(FORMAT)
    assert entries(found) == [("fact", "Likes to play cricket"), ("fact", "Is allergic to nuts")]
    assert [one.origin for one in found if isinstance(one, FoundEntry)] == [
        "memories.json#f38b689d", "memories.json#a1a1a1a1",
    ]  # fmt: skip
    assert left_out(found) == [("memories.json#b2b2b2b2", "a row without a memory")]


def test_each_of_several_users_has_a_channel(tmp_path: Path) -> None:
    """Nothing of one shows up with another; a bare list is read as well."""
    rows = [{"id": "1", "memory": "likes tea", "user_id": "ann"},
            {"id": "2", "memory": "likes beer", "user_id": "bob"}]  # fmt: skip
    (tmp_path / "m.json").write_text(json.dumps(rows))
    found = found_in(tmp_path / "m.json", FORMAT)
    channels = {one.channel: one.text for one in found if isinstance(one, FoundEntry)}
    assert channels == {"ann": "likes tea", "bob": "likes beer"}


def test_one_user_is_no_channel_of_its_own(tmp_path: Path) -> None:
    """A memory without a user beside those of one counts as another's."""
    rows = [{"id": "1", "memory": "likes tea", "user_id": "ann"}] * 2
    for more, channel in (([], ""), ([{"id": "2", "memory": "likes beer"}], "ann")):
        (tmp_path / "m.json").write_text(json.dumps({"results": rows + more}))
        first = found_in(tmp_path / "m.json", FORMAT)[0]
        assert isinstance(first, FoundEntry)
        assert first.channel == channel
