"""Search over single messages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.notes.message import Message
from pipimem.recall.index import Index
from pipimem.recall.transcript_search import Filters, add_messages, search
from pipimem.text.words import Words

from tests.recall.conftest import NOW

TALK = (
    Message.user("The nimbus gateway is down again", id="m1", speaker="Dana", time=NOW - timedelta(days=9)),
    Message.assistant("I restarted nimbus.", id="m2", speaker="pipi", time=NOW - timedelta(days=9)),
    Message.user("青鸟的告警又延迟了", id="m3", speaker="林晓", time=NOW - timedelta(days=2)),
    Message.user("nimbus looks fine today", id="m4", speaker="Priya", time=NOW),
    Message.user("no time known, nimbus", id="m5", speaker="Dana"),
)


@pytest.fixture
def transcript(words: Words) -> Index:
    """An index over the talk."""
    index = Index(words)
    add_messages(index, TALK)
    return index


def ids(index: Index, text: str, **wanted: object) -> list[str]:
    """The ids of the messages found."""
    filters = Filters(**wanted) if wanted else None  # type: ignore[arg-type]
    return [candidate.item.id for candidate in search(index, text, now=NOW, filters=filters)]


def test_the_best_message_comes_first(transcript: Index) -> None:
    """By words, and by who spoke: the name is part of a message."""
    assert ids(transcript, "nimbus gateway")[0] == "log:m1"
    assert ids(transcript, "青鸟 告警") == ["log:m3"]
    assert ids(transcript, "Priya nimbus")[0] == "log:m4"


def test_common_words_find_too_when_a_person_searches(transcript: Index) -> None:
    """There is no floor in a search on purpose."""
    assert ids(transcript, "today") == ["log:m4"]


def test_filters_leave_out_before_anything_is_ranked(transcript: Index) -> None:
    """By time, speaker and role; a message without time is outside of any time."""
    assert set(ids(transcript, "nimbus", speaker="dana")) == {"log:m1", "log:m5"}
    assert ids(transcript, "nimbus", role="assistant") == ["log:m2"]
    assert ids(transcript, "nimbus", after=NOW - timedelta(days=1)) == ["log:m4"]
    assert set(ids(transcript, "nimbus", before=NOW - timedelta(days=1))) == {"log:m1", "log:m2"}
    assert ids(transcript, "nimbus", speaker="nobody") == []


def test_messages_taken_in_twice_stand_once(transcript: Index) -> None:
    """A transcript only grows, and what is known is passed over."""
    add_messages(transcript, (*TALK, Message.user("zebra", id="m6", speaker="Dana", time=NOW)))
    assert len(transcript) == 6
    assert ids(transcript, "zebra") == ["log:m6"]


def test_the_limit_is_kept_and_ranks_count_from_one(transcript: Index) -> None:
    """The first two of four."""
    found = search(transcript, "nimbus", now=NOW, limit=2)
    assert [candidate.rank for candidate in found] == [1, 2]
