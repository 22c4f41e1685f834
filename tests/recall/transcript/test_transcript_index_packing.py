"""An index written down and read again is the same index."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.notes.message import Message
from pipimem.recall.items import message_item
from pipimem.recall.transcript.rank import search
from pipimem.recall.transcript.transcript_index import (
    StoredPostings,
    TranscriptIndex,
    joined,
    packed,
    unpacked,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each

NOON = datetime(2026, 3, 12, 12, tzinfo=UTC)
WORDS = Words(Segmenter())
SAID = st.lists(
    st.builds(
        Message,
        st.sampled_from(("user", "assistant", "tool")),
        st.sampled_from(
            (
                "the ferry leaves at nine",
                "渡轮九点开",
                "which ferry? ferry!",
                "ok",
                "",
                "3 ferrys on 2026-03-01",
            )
        ),
        speaker=st.sampled_from(("Ana", "Bob", "小明", "\ud800", "")),
        time=st.one_of(
            st.none(), st.integers(0, 10**6).map(lambda minutes: NOON + timedelta(minutes=minutes))
        ),
    ),
    max_size=12,
)
QUESTIONS = ("when does the ferry leave?", "渡轮", "what did Ana say on 2026-03-12?", "feryr")


def index_of(said: list[Message], index: TranscriptIndex | None = None) -> TranscriptIndex:
    """An index with these messages added."""
    index = TranscriptIndex(WORDS) if index is None else index  # an empty one is falsy
    index.add(map(message_item, said))
    return index


def answers(index: TranscriptIndex) -> list[list[tuple[int, float]]]:
    """Slots and scores for every question."""
    found = [search(index, question, now=NOON, limit=20) for question in QUESTIONS]
    return [[(hit.slot, hit.score) for hit in hits] for hits in found]


@given(SAID, SAID)
def test_an_index_goes_on_from_what_was_written(
    before: list[Message], after: list[Message]
) -> None:
    """As if it had been there all the time: the same answers, and the same bytes if it is
    written once more.
    """
    whole, first = index_of([*before, *after]), index_of(before)
    texts = [*before, *after]
    again = TranscriptIndex(
        WORDS, lambda slot: message_item(texts[slot]), unpacked(memoryview(packed(first.state())))
    )
    index_of(after, again)
    assert answers(again) == answers(whole)
    assert packed(again.state()) == packed(whole.state())


def test_writing_it_down_changes_no_answer() -> None:
    """What was counted in memory lies in the volume then; later messages come to it."""
    said = [Message.user("the ferry leaves at nine"), Message.user("the tram leaves at ten")]
    index, other = index_of(said), index_of(said)
    index.state()
    assert answers(index) == answers(other)
    assert answers(index_of(said, index)) == answers(index_of(said, other))


@each("cut", [0, 7, 8, 30, -1])
def test_what_is_no_index_is_refused(cut: int) -> None:
    """Too short, or too long."""
    data = packed(index_of([Message.user("the ferry leaves at nine")]).state())
    with pytest.raises(ValueError, match="no index"):
        unpacked(memoryview(data[:cut]))
    with pytest.raises(ValueError, match="no index"):
        unpacked(memoryview(data + b"x"))


@each(
    ("row", "more", "told"),
    [
        (0, b"x", "no index"),  # half a number
        (2, b"x", "rows of different lengths"),
        (-1, b"1234", "do not fit together"),
    ],
)
def test_rows_that_are_none_are_refused(row: int, more: bytes, told: str) -> None:
    """Whole as a file, and yet nothing an index can go on from."""
    names, rows, words = msgspec.msgpack.decode(
        packed(index_of([Message.user("the ferry leaves at nine")]).state())
    )
    rows[row] += more
    with pytest.raises(ValueError, match=told):
        unpacked(memoryview(msgspec.msgpack.encode([names, rows, words])))


WORDS_IN_ORDER = ["boat", "fern", "ferry", "船"]
PLACES = [(0, 3), (1,), (2, 2), (4,)]


def test_a_word_has_its_places() -> None:
    """Each its own, an unknown one none."""
    volume = StoredPostings(WORDS_IN_ORDER, *joined(PLACES))
    assert [tuple(volume.places(word)) for word in WORDS_IN_ORDER] == PLACES
    assert tuple(volume.places("tram")) == ()
    assert tuple(StoredPostings().places("boat")) == ()


def test_parts_that_do_not_fit_together_are_refused() -> None:
    """More words than ends, or more slots than they go to."""
    ends, slots = joined(PLACES)
    with pytest.raises(ValueError, match="do not fit together"):
        StoredPostings([*WORDS_IN_ORDER, "x"], ends, slots)
    with pytest.raises(ValueError, match="do not fit together"):
        StoredPostings(WORDS_IN_ORDER, ends, slots[:-1])
