"""Changes as JSON: what is empty is left out, what is unknown is passed over, what is wrong is
refused.
"""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author, Change
from pipimem.state.changes import ChangeRecord, RefusedLine
from pipimem.text.json_codec import CodecError, decoded, encoded

from tests.cases import each

RECORD = ChangeRecord(
    1,
    "2026-03-02T09:10:00+08:00",
    "consolidate",
    Author.MODEL,
    changes=(Change("added", File.MEMORY, after="alice likes tea"),),
    refused=(RefusedLine("Add", "bob is tall", "not said"),),
)
# In columns of their own.
COLUMNS = {
    "sequence": RECORD.sequence,
    "time": RECORD.time,
    "task": RECORD.task,
    "author": "model",
}


def test_what_is_empty_or_written_elsewhere_is_left_out() -> None:
    """A change is a short row."""
    assert encoded(RECORD) == {
        "changes": [{"verb": "added", "file": "MEMORY.md", "after": "alice likes tea"}],
        "refused": [{"operation": "Add", "text": "bob is tall", "reason": "not said"}],
    }


def test_what_was_encoded_is_read_back() -> None:
    """With the values of the columns it is the same."""
    assert decoded(ChangeRecord, {**encoded(RECORD), **COLUMNS}) == RECORD


def test_unknown_keys_are_passed_over() -> None:
    """A newer pipimem may add some."""
    assert decoded(ChangeRecord, {**encoded(RECORD), **COLUMNS, "later": 1}) == RECORD


@each(
    ("key", "value"),
    [
        ("sequence", "one"),
        ("author", "nobody"),
        ("changes", {}),
        ("time", 3),
        ("sequence", "\ud800"),
        ("author", "\ud800"),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: object) -> None:
    """Whoever reads the row knows which it is."""
    with pytest.raises(CodecError):
        decoded(ChangeRecord, {**encoded(RECORD), **COLUMNS, key: value})
