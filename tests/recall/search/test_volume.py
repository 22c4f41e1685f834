"""Words and their places as they lie in a file."""

from __future__ import annotations

import pytest
from pipimem.recall.search.volume import NO_VOLUME, Volume, joined, read, vocabulary

WORDS = ["boat", "ferry", "fern", "船"]
PLACES = [(0, 3), (1,), (2, 2), (4,)]


def volume() -> Volume:
    """Three words in English and one in Chinese."""
    return read(vocabulary(WORDS), *joined(PLACES))


def test_a_word_has_its_places() -> None:
    """Each its own, an unknown one none."""
    assert [tuple(volume().places(word)) for word in WORDS] == PLACES
    assert tuple(volume().places("tram")) == ()
    assert tuple(NO_VOLUME.places("boat")) == ()


def test_words_are_found_by_their_first_letter() -> None:
    """In a volume, words stand in their order."""
    assert list(read(vocabulary(sorted(WORDS)), *joined(PLACES)).beginning_with("f")) == [
        "fern",
        "ferry",
    ]
    assert list(NO_VOLUME.beginning_with("f")) == []


def test_parts_of_different_volumes_are_refused() -> None:
    """More words than ends, or more slots than they go to."""
    ends, slots = joined(PLACES)
    with pytest.raises(ValueError, match="not of one volume"):
        read(vocabulary([*WORDS, "x"]), ends, slots)
    with pytest.raises(ValueError, match="not of one volume"):
        read(vocabulary(WORDS), ends, slots[:-1])
    assert len(read(b"", *joined([]))) == 0
