"""An index written down and read again is the same index."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.notes.message import Message
from pipimem.recall.items import message_item
from pipimem.recall.search.index import TranscriptIndex
from pipimem.recall.search.packing import packed, unpacked
from pipimem.recall.search.ranking import search
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

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
    """As if it had been there all the time: the same answers, and the same bytes if it is written once more."""
    whole, first = index_of([*before, *after]), index_of(before)
    texts = [*before, *after]
    again = TranscriptIndex(
        WORDS, lambda slot: message_item(texts[slot]), unpacked(memoryview(packed(first.known())))
    )
    index_of(after, again)
    assert answers(again) == answers(whole)
    assert packed(again.known()) == packed(whole.known())


def test_writing_it_down_changes_no_answer() -> None:
    """What was counted in memory lies in the volume then; later messages come to it."""
    said = [Message.user("the ferry leaves at nine"), Message.user("the tram leaves at ten")]
    index, other = index_of(said), index_of(said)
    index.known()
    assert answers(index) == answers(other)
    assert answers(index_of(said, index)) == answers(index_of(said, other))


@pytest.mark.parametrize("cut", [0, 7, 8, 30, -1])
def test_what_is_no_index_is_refused(cut: int) -> None:
    """Too short, or rows that do not fit together."""
    data = packed(index_of([Message.user("the ferry leaves at nine")]).known())
    with pytest.raises(ValueError, match=r"rows are missing|Expecting|Unterminated|no head"):
        unpacked(memoryview(data[:cut]))
    with pytest.raises(ValueError, match="rows are missing"):
        unpacked(memoryview(data + b"x"))


def test_a_row_of_half_numbers_is_refused() -> None:
    """Rows that add up, and yet are no rows."""
    data = packed(index_of([Message.user("the ferry leaves at nine")]).known())
    end = 8 + int.from_bytes(data[:8], "big")
    head = json.loads(data[8:end])
    head["rows"][-2] += 1
    head["rows"][-1] -= 1
    told = json.dumps(head).encode()
    with pytest.raises(ValueError, match="half a number"):
        unpacked(memoryview(len(told).to_bytes(8, "big") + told + data[end:]))
