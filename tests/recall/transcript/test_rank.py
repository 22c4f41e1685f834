"""Search over single messages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.notes.message import Message
from pipimem.recall.items import message_item
from pipimem.recall.scoring import scored
from pipimem.recall.synonyms import common
from pipimem.recall.transcript.hits import Filters
from pipimem.recall.transcript.rank import search
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.words.index_words import Words

from tests.cases import each
from tests.recall.conftest import NOW

SYNONYMS = common()
TALK = (
    Message.user(
        "The nimbus gateway is down again", id="m1", speaker="Dana", time=NOW - timedelta(days=9)
    ),
    Message.assistant("I restarted nimbus.", id="m2", speaker="pipi", time=NOW - timedelta(days=9)),
    Message.user("青鸟的告警又延迟了", id="m3", speaker="林晓", time=NOW - timedelta(days=2)),
    Message.user("nimbus looks fine today", id="m4", speaker="Priya", time=NOW),
    Message.user("no time known, nimbus", id="m5", speaker="Dana"),
)


@pytest.fixture
def transcript(words: Words) -> TranscriptIndex:
    """An index over the talk."""
    index = TranscriptIndex(words)
    index.add(map(message_item, TALK))
    return index


def ids(index: TranscriptIndex, text: str, **wanted: object) -> list[str]:
    """The ids of the messages found."""
    filters = Filters(**wanted) if wanted else None  # type: ignore[arg-type]
    return [
        candidate.item.id
        for candidate in search(index, text, now=NOW, filters=filters, synonyms=SYNONYMS)
    ]


def test_the_best_message_comes_first(transcript: TranscriptIndex) -> None:
    """By words, and by who spoke: the name is part of a message."""
    assert ids(transcript, "nimbus gateway")[0] == "log:m1"
    assert ids(transcript, "青鸟 告警") == ["log:m3"]
    assert ids(transcript, "Priya nimbus")[0] == "log:m4"


def test_common_words_find_too_when_a_person_searches(transcript: TranscriptIndex) -> None:
    """There is no floor in a search on purpose."""
    assert ids(transcript, "today")[0] == "log:m4"


def test_what_was_asked_belongs_to_the_answer(transcript: TranscriptIndex) -> None:
    """The answer shares no word with the question, but with what it answers; it comes after what
    does.
    """
    assert ids(transcript, "gateway") == ["log:m1", "log:m2"]
    assert ids(transcript, "gateway", role="assistant") == ["log:m2"]


def test_after_an_hour_of_silence_people_begin_anew(words: Words) -> None:
    """A message of the next morning is no answer."""
    index = TranscriptIndex(words)
    talk = (("a", "the zebra escaped", 0), ("b", "oh dear", 30), ("c", "coffee anyone", 90))
    index.add(
        message_item(
            Message.user(text, id=name, speaker=name, time=NOW + timedelta(minutes=minutes))
        )
        for name, text, minutes in talk
    )
    assert ids(index, "zebra") == ["log:a", "log:b", "log:c"]
    late = TranscriptIndex(words)
    late.add(
        message_item(Message.user(text, id=name, speaker=name, time=NOW + timedelta(hours=minutes)))
        for name, text, minutes in talk
    )
    assert ids(late, "zebra") == ["log:a"]


def said(words: Words, *lines: tuple[str, str]) -> TranscriptIndex:
    """Speaker and text, a minute apart; ids count from 0."""
    index = TranscriptIndex(words)
    index.add(
        message_item(
            Message.user(text, id=str(place), speaker=speaker, time=NOW + timedelta(days=place))
        )
        for place, (speaker, text) in enumerate(lines)
    )
    return index


def test_who_is_named_is_looked_for_as_a_speaker(words: Words) -> None:
    """Whoever writes to Caroline says her name; what Caroline did stands in her own messages."""
    index = said(
        words, ("Melanie", "Caroline, I bought a kayak!"), ("Caroline", "I bought a kayak too")
    )
    assert ids(index, "What did Caroline buy, a kayak?") == ["log:1", "log:0"]
    assert ids(index, "What did Melanie buy, a kayak?") == ["log:0", "log:1"]
    assert ids(index, "Caroline") == ["log:0", "log:1"]


def test_a_person_named_alone_gives_what_they_said(words: Words) -> None:
    """The name stands nowhere in the text."""
    index = said(words, ("王峰", "早"), ("李雪", "今天下雨"), ("王峰", "带伞"))
    assert ids(index, "王峰") == ["log:0", "log:2"]


def test_the_day_that_is_asked_for_counts(words: Words) -> None:
    """By itself, in both languages, with the words; without a year it is a day of the talk."""
    lines = (
        ("Ana", "We talked about boats"),
        ("Ana", "Rain all day"),
        ("Ana", "More talk about boats"),
    )
    index = said(words, *lines)
    assert ids(index, "What happened on 13 March 2026?") == ["log:1"]
    assert ids(index, "3月13号发生了什么") == ["log:1"]
    assert ids(index, "boats on March 14")[0] == "log:2"
    late = NOW + timedelta(days=900)
    assert search(index, "3月13号发生了什么", now=late)[0].item.id == "log:1"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When is the regatta?", "log:1"),
        ("How many boats are in the regatta?", "log:2"),
        ("Who won the regatta?", "log:3"),
    ],
)
def test_an_answer_has_what_the_question_wants(words: Words, question: str, answer: str) -> None:
    """A time, a number, a name; what only asks comes last."""
    index = said(
        words,
        ("Ana", "Is there a regatta?"),
        ("Ana", "the regatta is next week"),
        ("Ana", "the regatta has 40 sails"),
        ("Ana", "the regatta went to Ines"),
    )
    found = ids(index, question)
    assert (found[0], found[-1]) == (answer, "log:0")


ADVICE = "Here is how others go about it. " * 30


def chat(words: Words, *lines: str) -> TranscriptIndex:
    """A person and a bot by turns, a minute apart; ids count from 0."""
    index = TranscriptIndex(words)
    for place, text in enumerate(lines):
        role, time = ("user", "assistant")[place % 2], NOW + timedelta(minutes=place)
        index.add([message_item(Message(role, text, id=str(place), time=time))])  # type: ignore[arg-type]
    return index


def test_a_long_message_is_found_by_its_passage(words: Words) -> None:
    """The hit says which of its passages it is."""
    index = chat(
        words, "how do I care for it?", f"{ADVICE}\nWater the monstera on Fridays. {ADVICE}"
    )
    hit = search(index, "monstera", now=NOW)[0]
    assert (hit.item.id, hit.passage) == ("log:1", 1)


def test_a_long_neighbour_does_not_lift_a_message_over_itself(words: Words) -> None:
    """What has the words comes first, however short those beside it are."""
    answer = f"{ADVICE}\nWater the monstera on Fridays, and feed it in spring. {ADVICE}"
    index = chat(words, "and the plant?", answer, "thanks!", "You are welcome.")
    assert ids(index, "when should the monstera be watered and fed?")[0] == "log:1"


IN_ENGLISH = ("The budget for the kitchen is 4,000.", "A budget for the kitchen is 9,000.")
IN_CHINESE = ("厨房预算是四千。", "厨房预算是九千。")


@each(
    ("said", "question", "answer"),
    [
        (IN_ENGLISH, "which budget did I set for the kitchen?", "log:0"),
        (IN_ENGLISH, "which budget did you recommend for the kitchen?", "log:1"),
        (IN_CHINESE, "我的厨房预算是多少？", "log:0"),
        (IN_CHINESE, "你给我推荐了什么厨房预算？", "log:1"),
    ],
)
def test_who_is_asked_about_comes_first(
    words: Words, said: tuple[str, str], question: str, answer: str
) -> None:
    """In a talk with a bot: the person, but for what "you" said."""
    assert ids(chat(words, *said), question)[0] == answer


def test_other_words_for_the_same_are_found(words: Words) -> None:
    """One meaning both ways, a kind one way, a slip of the finger; in Chinese too."""
    index = said(
        words,
        ("Ana", "I adopted a puppy"),
        ("Ana", "my vacation, under an umbrella"),
        ("Ana", "一起去徒步吧"),
    )
    assert ids(index, "any pets?") == ["log:0"]
    assert ids(index, "holidays") == ["log:1"]
    assert ids(index, "umbrela") == ["log:1"]
    assert ids(index, "散步") == ["log:2"]


def test_a_misspelt_word_is_found_in_later_messages_too(transcript: TranscriptIndex) -> None:
    """The words that it may be misspelt for are kept between questions."""
    assert ids(transcript, "is the gatewya down?")[0] == "log:m1"
    assert ids(transcript, "what is a zeppelni?") == []
    transcript.add([message_item(Message.user("the zeppelin has landed", id="m6", time=NOW))])
    assert ids(transcript, "what is a zeppelni?")[0] == "log:m6"


def test_a_misspelt_word_whose_stem_is_cut_differently_is_found(words: Words) -> None:
    """As in memory."""
    index = said(words, ("Ann", "I met the accountant"), ("Bob", "the piano is out of tune"))
    assert ids(index, "acountant")[:1] == ids(index, "accountant")[:1] != []


def test_the_parts_add_up_to_the_score(transcript: TranscriptIndex) -> None:
    """Every score can be taken apart."""
    best = search(transcript, "When did Dana say the nimbus gateway was down?", now=NOW)[0]
    assert best.item.id == "log:m1"
    assert scored(best.parts) == best.score
    assert {part.name for part in best.parts} >= {
        "nimbus",
        "gateway",
        "said by whom is named",
        "of whom is named",
    }


def test_in_a_long_transcript_the_needle_is_found(words: Words) -> None:
    """Beyond what is weighed whole, the places where the words meet are; a filter counts there
    too.
    """
    index = TranscriptIndex(words)
    index.add(
        message_item(
            Message.user(
                "the zanzibar ferry leaves at nine"
                if place in (7, 1500, 2990)
                else f"ferry talk number {place}",
                id=str(place),
                speaker="Bo" if place == 1500 else "Ana",
                time=NOW + timedelta(hours=2 * place),
            )
        )
        for place in range(3000)
    )
    assert ids(index, "zanzibar ferry")[:3] == ["log:7", "log:1500", "log:2990"]
    assert ids(index, "zanzibar ferry", speaker="bo") == ["log:1500"]
    assert ids(index, "ferry", after=NOW + timedelta(hours=5990)) != []


def test_filters_leave_out_before_anything_is_ranked(transcript: TranscriptIndex) -> None:
    """By time, speaker and role; a message without time is outside of any time."""
    assert set(ids(transcript, "nimbus", speaker="dana")) == {"log:m1", "log:m5"}
    assert ids(transcript, "nimbus", role="assistant") == ["log:m2"]
    assert ids(transcript, "nimbus", after=NOW - timedelta(days=1)) == ["log:m4"]
    assert set(ids(transcript, "nimbus", before=NOW - timedelta(days=1))) == {"log:m1", "log:m2"}
    assert ids(transcript, "nimbus", speaker="nobody") == []


def test_a_transcript_only_grows(transcript: TranscriptIndex) -> None:
    """What comes later is found beside what was there."""
    transcript.add([message_item(Message.user("zebra", id="m6", speaker="Dana", time=NOW))])
    assert len(transcript) == 6
    assert ids(transcript, "zebra")[0] == "log:m6"


def test_an_index_with_a_shelf_keeps_no_text(words: Words) -> None:
    """The message of a hit comes from the caller."""
    items = [message_item(message) for message in TALK]
    index = TranscriptIndex(words, items.__getitem__)
    index.add(items)
    assert search(index, "gateway", now=NOW)[0].item is items[0]


def test_the_limit_is_kept_and_ranks_count_from_one(transcript: TranscriptIndex) -> None:
    """The first two of four."""
    found = search(transcript, "nimbus", now=NOW, limit=2)
    assert [candidate.rank for candidate in found] == [1, 2]
