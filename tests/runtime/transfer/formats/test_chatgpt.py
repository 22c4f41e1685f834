"""ChatGPT's data export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipimem.errors import ArchiveError
from pipimem.runtime.transfer.formats.chatgpt import FORMAT
from pipimem.runtime.transfer.found import FoundMessage

from tests.runtime.transfer.formats.fixtures import fixture, found_in, left_out, said


def test_the_last_branch_of_each_conversation_is_its_talk() -> None:
    """Texts of messages with pictures too; the answer that was thrown away is left out."""
    found = fixture(FORMAT)
    assert said(found) == [
        ("user", "", "Where is this?", "Holiday (c2222222)"),
        ("assistant", "", "That is Porto.", "Holiday (c2222222)"),
        ("user", "", "Which port has staging?", "Build (c1111111)"),
        ("assistant", "", "5432.", "Build (c1111111)"),
    ]
    assert left_out(found) == [
        ("conversations.json#c2222222-0000/n1", "instructions to the model"),
        ("conversations.json#c2222222-0000/n3", "another branch of a conversation"),
        ("conversations.json#c1111111-0000/m2", "a call of a tool"),
    ]


def test_ids_and_times_are_those_of_the_export() -> None:
    """So that a later export of the same talk adds only what is new."""
    messages = [one.message for one in fixture(FORMAT) if isinstance(one, FoundMessage)]
    assert [one.id for one in messages] == ["n2", "n4", "m1", "m3"]
    assert [one.time.timestamp() for one in messages if one.time] == [
        1772499600.5, 1772499650.0, 1772413200.0, 1772413220.0,
    ]  # fmt: skip


def test_parents_that_lead_round_in_a_circle_end(tmp_path: Path) -> None:
    """A broken tree is read once around."""
    node = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}}
    mapping = {
        "a": {"parent": "b", "message": {"id": "a", **node}},
        "b": {"parent": "a", "message": {"id": "b", **node}},
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"id": "c", "mapping": mapping, "current_node": "a"}]))
    assert len(said(found_in(path, FORMAT))) == 2


def test_an_export_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    """With the number of the conversation."""
    path = tmp_path / "conversations.json"
    path.write_text('[{"mapping": {}}, {"mapping": {"a": ')
    with pytest.raises(ArchiveError, match=r"conversations\.json, element 2: it is cut short"):
        found_in(path, FORMAT)
