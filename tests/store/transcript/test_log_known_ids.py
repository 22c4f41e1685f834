"""A set of ids that does not keep them."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.transcript.log import KnownIds


@given(st.lists(st.text(max_size=3), max_size=200))
def test_it_knows_what_was_added_and_nothing_else(names: list[str]) -> None:
    """As a set of strings does; an id that is added again is told."""
    known, wanted = KnownIds(), set[str]()
    for name in names:
        assert known.add(name) == (name not in wanted)
        wanted.add(name)
        assert len(known) == len(wanted)
    others = {f"{name}+" for name in wanted} - wanted
    assert all(name in known for name in wanted)
    assert not any(name in known for name in others)


def test_an_id_takes_less_than_twenty_bytes() -> None:
    """A hundred thousand are known again, and none besides."""
    known = KnownIds(f"log:{number:020x}" for number in range(100_000))
    assert len(known) == 100_000
    assert all(f"log:{number:020x}" in known for number in range(100_000))
    assert not any(f"m{number}" in known for number in range(1_000))
    assert sum(map(sys.getsizeof, known._tables)) < 20 * 100_000


def test_surrogates_and_the_empty_id_are_ids() -> None:
    """A platform may call its messages anything."""
    known = KnownIds(["", "\ud800"])
    assert ("" in known, "\ud800" in known, "\ud801" in known) == (True, True, False)
