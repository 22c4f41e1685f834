"""The texts that stood in a file, told by what makes them other ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.notes.files import File
from pipimem.notes.notes import etag
from pipimem.store.commits.ancestry import Known, Stood, nearest
from pipimem.store.commits.lineage import Lineage
from pipimem.store.journal.records import FileChange
from pipimem.store.journal.versions import Versions
from pipimem.text.splices import splices_between

LINES = (
    "# Memory\n",
    "\n",
    "- alice likes tea\n",
    "- alice likes green tea\n",
    "- the port is 8080\n",
    "- the port is 9090\n",
)
TEXTS = st.lists(st.sampled_from(LINES), max_size=6).map("".join)


def changes(texts: list[str]) -> list[FileChange]:
    """The journal's changes from each text to the next."""
    return [FileChange(etag(old), etag(new), splices_between(old, new)) for old, new in pairwise(texts)]


def told(lineage: Lineage, texts: list[str], unread: frozenset[str] = frozenset(), newest: bool | None = True) -> Known:
    """What a lineage makes of the changes between texts."""
    mark, left, between = etag(texts[-1]), texts[-1], changes(texts)
    return Known(lambda known: lineage.stood(mark, left, between, unread, newest, "", known))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(TEXTS, min_size=1, max_size=7),
    st.lists(TEXTS, max_size=3),
    TEXTS,
    st.booleans(),
    st.sets(st.integers(0, 6)),
)
def test_told_by_their_lines_or_whole_the_nearest_is_the_same(
    tmp_path_factory, texts: list[str], kept: list[str], text: str, newest: bool, unseen: set[int]
) -> None:
    """Whatever changed, whatever versions are kept, and whoever read what."""
    lineage = Lineage(File.MEMORY, Versions(tmp_path_factory.mktemp("versions")))
    for each in kept:
        lineage.versions.keep(File.MEMORY, each, synced=False)
    unread = frozenset(etag(texts[place]) for place in unseen if place < len(texts))
    known = told(lineage, texts, unread, newest)
    whole = [Stood(one.text, one.was_seen) for one in known]
    assert nearest(text, known) == nearest(text, Known(lambda _: iter(whole)))


def test_a_version_is_read_once(tmp_path: Path) -> None:
    """Later edits know what it has more than the newest text, also after the next commits."""
    lineage = Lineage(File.MEMORY, Versions(tmp_path))
    old, texts = "# Memory\n\n- alice likes tea\n", ["# Memory\n\n- bob\n", "# Memory\n\n- bob\n- carol\n"]
    lineage.versions.keep(File.MEMORY, old)
    assert [one.text for one in told(lineage, texts[:1])] == [texts[0], old]
    for change in changes(texts):
        lineage.follow(change)
    *_, last = told(lineage, texts)
    assert last.step == {"- alice likes tea": 1, "- bob": -1, "- carol": -1}


def test_where_something_was_forgotten_the_line_of_texts_ends(tmp_path: Path) -> None:
    """A change that no longer leads back is found out when its text is wanted, and left out from then on."""
    lineage = Lineage(File.MEMORY, Versions(tmp_path))
    texts = [
        "# Memory\n\n- the code is 4711\n",
        "# Memory\n\n- the code is 4711\n- bob\n",
        "# Memory\n\n- bob\n- carol\n",
    ]
    first, second = changes(texts)
    blanked = [FileChange(first.before, first.after, splices_between("", "- bob\n")), second]
    known = Known(lambda asked: lineage.stood(etag(texts[2]), texts[2], blanked, (), True, "", asked))
    assert nearest("# Memory\n\n- typed\n- bob\n- carol\n", known) == texts[2]
    assert nearest("# Memory\n\n- the code is 4711\n- bob\n- typed\n", known) == texts[1]
    assert nearest("# Memory\n\n- the code is 4711\n- typed\n", known) in texts[1:]
