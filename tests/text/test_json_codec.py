"""Journal records as JSON: what is empty is left out, what is unknown is passed over, what is
wrong is refused.
"""

from __future__ import annotations

import pytest
from pipimem.notes.kinds import File
from pipimem.notes.operations import Author
from pipimem.store.journal.records import FileChange, JournalRecord
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.markdown.line_edits import Splice

from tests.cases import each

CHANGE = FileChange("aa", "bb", (Splice(0, ("old\n",), ("new\n",)),))
RECORD = JournalRecord(
    1, "2026-03-02T09:10:00+08:00", "edit", Author.EDITOR, files={File.MEMORY: CHANGE}
)


def test_what_is_empty_is_left_out() -> None:
    """A record costs a line that people read."""
    assert set(encoded(RECORD)) == {"seq", "ts", "task", "author", "files"}
    assert encoded(RECORD)["files"] == {
        "MEMORY.md": {"before": "aa", "after": "bb", "splices": [[0, ["old\n"], ["new\n"]]]}
    }


@each("unseen", [False, True])
def test_how_a_text_came_to_be_is_kept(unseen: bool) -> None:
    """Which person's text was merged, and whether the text before ever stood in the file."""
    change = FileChange("aa", "bb", (), found="cc", unseen=unseen)
    record = JournalRecord(1, "x", "edit", Author.EDITOR, files={File.MEMORY: change})
    assert decoded(JournalRecord, encoded(record)).files[File.MEMORY] == change


def test_unknown_keys_are_passed_over() -> None:
    """A newer pipimem may add some."""
    assert decoded(JournalRecord, {**encoded(RECORD), "later": 1}) == decoded(
        JournalRecord, encoded(RECORD)
    )


@each(
    ("key", "value"),
    [
        ("seq", "one"),
        ("author", "nobody"),
        ("files", []),
        ("ts", 3),
        ("seq", "\ud800"),
        ("author", "\ud800"),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: object) -> None:
    """Whoever reads the journal says which line it is in."""
    with pytest.raises(CodecError):
        decoded(JournalRecord, {**encoded(RECORD), key: value})
