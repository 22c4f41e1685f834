"""What the files of older formats say of a channel: texts, what they displaced, what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from pipimem.notes.kinds import File, etag
from pipimem.state.texts import Texts
from pipimem.store.upgrade.old_state import OldState, read_old_state
from pipimem.text.json_lines import checked_line, checksum_of
from pipimem.text.markdown.line_edits import splices_between

KEY = bytes(32)
TEXTS = Texts(KEY)
NAME = "0123456789abcdef"


def _change(before: str, after: str, **more: object) -> dict[str, object]:
    """The change of MEMORY.md in a record."""
    splices = splices_between(before, after)
    change = {"before": etag(before), "after": etag(after), "splices": splices, **more}
    return {"files": {"MEMORY.md": change}}


def _merged(before: str, after: str, found: str, **more: object) -> dict[str, object]:
    """The same, where a person's text was merged."""
    return _change(
        before, after, found=etag(found), found_splices=splices_between(after, found), **more
    )


def _journal(*records: Mapping[str, object], first: int = 1, name: str = NAME) -> bytes:
    rows = [checked_line({"format": 2, "journal": name, "channel": "c"})]
    for number, record in enumerate(records, first):
        fields = {
            "seq": number,
            "ts": "2026-11-20T09:10:00+08:00",
            "task": "t",
            "author": "model",
            **record,
        }
        rows.append(checked_line(fields, checksum_of(rows[-1])))
    return b"".join(rows)


def _checkpoint(sequence: int, text: str = "", name: str = NAME) -> bytes:
    ledger = {"sequence": sequence, "cursor": sequence, "etags": {"MEMORY.md": etag(text)}}
    place = {"journal": name, "offset": 1, "checksum": "0" * 8}
    return checked_line(
        {"format": 2, "ledger": ledger, "place": place, "texts": {"MEMORY.md": text}}
    )


def _read(folder: Path, files: Mapping[str, bytes], memory: str = "") -> OldState:
    own = folder / ".pipimem"
    own.mkdir(parents=True)
    for name, data in files.items():
        (own / name).write_bytes(data)
    if memory:
        (folder / "MEMORY.md").write_text(memory, encoding="utf-8")
    return read_old_state(folder, folder, TEXTS)


def test_what_stood_in_the_file_is_known(tmp_path: Path) -> None:
    """A person saved `b`; it was merged into `ab`, which a commit overtook before it was placed."""
    journal = _journal(
        _change("", "a\n"),
        _merged("a\n", "a\nb\n", "b\n"),
        _change("a\nb\n", "a\nb\nc\n", unseen=True),
    )
    found = _read(tmp_path, {"journal.jsonl": journal}, "a\nb\nc\n")
    first, merged, newest = (change.files[File.MEMORY] for change in found.changes)
    saved = TEXTS.etag("b\n")
    assert (first.displaces, first.saved, first.on_disk) == (TEXTS.etag(""), "", True)
    assert (merged.displaces, merged.saved, merged.on_disk) == (saved, saved, False)
    assert (newest.displaces, newest.saved, newest.on_disk) == (saved, "", True)
    assert found.texts == {"", "a\n", "b\n", "a\nb\n", "a\nb\nc\n"}


def test_a_placeholder_of_a_forgotten_line_is_no_line(tmp_path: Path) -> None:
    """Past texts of format 2 have one for each."""
    journal = _journal(_merged("a\n", "a\nb\n", "- \0abcdefgh\nb\n"))
    found = _read(tmp_path, {"journal.jsonl": journal}, "a\nb\n")
    assert found.changes[0].files[File.MEMORY].saved == TEXTS.etag("b\n")


def test_the_newest_text_is_made_of_an_older_one(tmp_path: Path) -> None:
    """Where a person has changed the file since, and nobody kept the text."""
    journal = _journal(_change("a\n", "a\nb\n"), _change("a\nb\n", "b\n"))
    files = {"journal.jsonl": journal, "ledger.json": _checkpoint(0, "a\n")}
    found = _read(tmp_path, files, "edited\n")
    assert found.heads == {File.MEMORY: "b\n"}
    assert not found.is_cut


def test_undo_reaches_back_as_far_as_the_texts_are_known(tmp_path: Path) -> None:
    """A gap in the texts, which nobody should see, ends it."""
    journal = _journal(_change("x\n", "y\n"), _change("a\n", "b\n"), _change("b\n", "c\n"))
    found = _read(tmp_path, {"journal.jsonl": journal}, "c\n")
    assert [change.sequence for change in found.changes] == [2, 3]


def test_the_newest_200_changes_are_taken_over(tmp_path: Path) -> None:
    """More would be written at once, while others wait."""
    texts = [f"{number}\n" for number in range(251)]
    journal = _journal(*map(_change, texts, texts[1:]))
    found = _read(tmp_path, {"journal.jsonl": journal}, texts[-1])
    assert [change.sequence for change in found.changes] == [*range(51, 251)]
    assert found.ledger.sequence == 250


@pytest.mark.parametrize(
    ("journal", "sequence"),
    [
        pytest.param(_journal({}, {}, {}, first=7), 9, id="changes between are lost"),
        pytest.param(_journal({}), 5, id="an older copy of the journal"),
        pytest.param(_journal({}, {}, first=2, name="f" * 16), 5, id="of another channel"),
        pytest.param(_journal({}, {}, first=5)[:-40] + b"#\n\n", 5, id="damaged at its end"),
    ],
)
def test_where_changes_are_lost_no_text_is_believed(
    tmp_path: Path, journal: bytes, sequence: int
) -> None:
    """An older text would take out of the files what came since."""
    files = {"journal.jsonl": journal, "ledger.json": _checkpoint(5, "a\n")}
    found = _read(tmp_path, files, "a\nb\n")
    assert (found.is_cut, found.heads, found.changes) == (True, {}, [])
    assert found.ledger.sequence == sequence


@pytest.mark.parametrize(
    ("journal", "sequence"),
    [
        pytest.param(_journal({}, {}, {}, first=4), 6, id="it goes on from the checkpoint"),
        pytest.param(_journal({}, first=6, name="f" * 16), 6, id="a journal that was begun anew"),
        pytest.param(
            _journal({"task": "forget"}, first=5, name="f" * 16), 5, id="anew by a forgetting"
        ),
        pytest.param(b"", 5, id="no change since"),
        pytest.param(
            _journal({}, {}, {}, first=4).replace(b'"t"', b'"x"', 1), 6, id="damaged before it"
        ),
    ],
)
def test_a_journal_that_goes_on_from_the_checkpoint_is_believed(
    tmp_path: Path, journal: bytes, sequence: int
) -> None:
    """Also under another name, if its numbers go on."""
    files = {"journal.jsonl": journal, "ledger.json": _checkpoint(5, "a\n")}
    found = _read(tmp_path, files, "a\nb\n")
    assert not found.is_cut
    assert (found.heads, found.ledger.sequence) == ({File.MEMORY: "a\n"}, sequence)
