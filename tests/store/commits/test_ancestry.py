"""Which known text a saved one grew out of."""

from __future__ import annotations

import pytest
from pipimem.store.commits.ancestry import Known, Stood, nearest

OLD = "# Memory\n\n- alice likes tea\n"
NEW = OLD + "- the port is 8080\n"
NEWER = NEW + "- we ship on Thursday\n"


def origin(text: str, *, unseen: tuple[str, ...] = ()) -> str:
    """The text it is taken to have grown out of, of three."""
    known = [Stood(each, each not in unseen) for each in (NEWER, NEW, OLD)]
    return nearest(text, Known(lambda _: iter(known)))


@pytest.mark.parametrize(
    ("text", "base"),
    [
        (NEWER + "- typed\n", NEWER),
        (NEW + "- typed\n", NEW),
        (OLD + "- typed\n", OLD),
        (NEWER.replace("alice", "bob"), NEWER),
        (NEW.replace("alice", "bob"), NEW),
        (NEWER.replace("- the port is 8080\n", ""), NEWER),
        (NEWER.replace("Thursday", "Friday"), NEWER),
        (NEWER.replace("\n", "\r\n") + "- typed\r\n", NEWER),
        (NEW.replace("- alice likes tea\n", ""), NEW),
    ],
)
def test_the_fewest_changes_tell(text: str, base: str) -> None:
    """Added, reworded, deleted, with other line ends: a person does little at once."""
    assert origin(text) == base


def test_a_line_taken_out_meanwhile_is_not_typed_again() -> None:
    """The newest text is what it was before the buffer was loaded; the buffer still has the line."""
    known = [Stood(each, was_seen=True) for each in (OLD, NEW, OLD)]
    assert nearest(NEW + "- typed\n", Known(lambda _: iter(known))) == NEW


def test_a_restore_grew_out_of_the_newest() -> None:
    """An older text word for word shall stand as it is."""
    assert origin(OLD) == origin(NEW) == NEWER


def test_what_nobody_read_nobody_changed() -> None:
    """The newest bullet replaced by another looks like an older buffer, unless nobody ever read the older text."""
    text = NEW + "- something else entirely\n"
    assert origin(text) == NEW
    assert origin(text, unseen=(NEW,)) == NEWER
    assert origin(text, unseen=(NEWER,)) == NEW


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
def test_an_emptied_file_lost_all_that_was_read(text: str) -> None:
    """However short an older text was; a line that nobody has read is not deleted with the rest."""
    known = [Stood(each, was_seen=True) for each in (NEW, OLD, "- tea\n", "")]
    assert nearest(text, Known(lambda _: iter(known))) == NEW
    assert nearest(text, Known(lambda _: iter([Stood(NEWER, was_seen=False), *known]))) == NEW
    unread = Stood(NEWER, was_seen=False), Stood("", was_seen=True)
    assert nearest(text, Known(lambda _: iter(unread))) == NEWER


def test_out_of_nothing() -> None:
    """Somebody typed into an empty window while our first text came: both stay."""
    assert origin("- typed\n", unseen=(NEWER, NEW, OLD)) == ""
    assert nearest("- typed\n", Known(lambda _: iter(()))) == ""
