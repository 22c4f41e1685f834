"""Excerpts of the talk that stand beside the entries: for questions about the past alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from pipimem.notes.message import Message
from pipimem.recall.budget import BlockBudget, context_block
from pipimem.recall.items import Item, message_item
from pipimem.recall.query import refined
from pipimem.recall.synonyms import common
from pipimem.recall.transcript.excerpts import ExcerptLimits, excerpts
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.token_count import estimate
from pipimem.text.words.index_words import Words

from tests.cases import each, table
from tests.recall.conftest import NOW

SYNONYMS = common()
# Who said what, a day apart from the next but for an answer of the bot.
TALK = (
    ("Dana", "My brother Leo got married in Lisbon, the party was on a boat."),
    ("", "Congratulations to Leo!"),
    ("Priya", "I finally sold my old bicycle to a neighbour for 80 euros."),
    ("林晓", "上周末我们去青岛爬了崂山，下山的时候淋了大雨。"),
    ("", "听起来很累，记得喝姜茶。"),
    ("Dana", "Where should the spring offsite be?"),
    ("Priya", "The farm near Utrecht has room for twenty people."),
    ("Dana", "The kettle in the office kitchen is broken again."),
)


@pytest.fixture
def talk(words: Words) -> TranscriptIndex:
    """An index over the talk, and a hundred messages of the trade before it."""
    index = TranscriptIndex(words)
    noise = [
        ("Tom", f"Ticket {number} is closed, build {number} is green.") for number in range(99)
    ]
    for number, (speaker, text) in enumerate([*noise, *TALK]):
        time = NOW - timedelta(days=150 - number)
        role = "user" if speaker else "assistant"
        message = Message(role, text, id=f"m{number}", speaker=speaker, time=time)
        index.add([message_item(message)])
    return index


def asked(
    index: TranscriptIndex,
    text: str,
    *,
    max_chars: int = 5_000,
    max_tokens: int = 700,
    **room: object,
) -> Sequence[Item]:
    """What is shown for a question with all the room there is."""
    query = refined(text, index.words, now=NOW, synonyms=SYNONYMS)
    whole = {"before": len(index), "budget": BlockBudget(max_chars, max_tokens)} | room
    return excerpts(index, query, ExcerptLimits(**whole), now=NOW, synonyms=SYNONYMS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "answer"),
    table(__file__, "a_question_about_the_past_brings_what_was_said"),
)
def test_a_question_about_the_past_brings_what_was_said(
    talk: TranscriptIndex, question: str, answer: str
) -> None:
    """In both languages, by whoever is named, and where only the last sentence asks."""
    assert any(answer in item.text for item in asked(talk, question))


@each("ahead", [1, 11])
def test_counters_ahead_of_the_index_cost_no_excerpt(words: Words, ahead: int) -> None:
    """Messages were stored, or the host dropped some, before the index took them in."""
    index = TranscriptIndex(words)
    for number, (speaker, text) in enumerate(TALK):
        time = NOW - timedelta(days=50 - number)
        role = "user" if speaker else "assistant"
        message = Message(role, text, id=f"m{number}", speaker=speaker, time=time)
        index.add([message_item(message)])
    question = "Where did Dana's brother get married?"
    expected = asked(index, question)
    assert expected
    for learnt in (None, -2, 0, len(index) + ahead):
        assert asked(index, question, before=len(index) + ahead, learnt=learnt) == expected


@pytest.mark.parametrize(
    "text",
    table(__file__, "chat_commands_and_general_questions_bring_nothing"),
)
def test_chat_commands_and_general_questions_bring_nothing(
    talk: TranscriptIndex, text: str
) -> None:
    """Nor does what is asked of the listener, or told."""
    assert asked(talk, text) == ()


def test_a_question_that_shares_too_little_brings_nothing(talk: TranscriptIndex) -> None:
    """What was never spoken of, though a word of it was."""
    assert asked(talk, "which neighbour repaired the roof of our cabin in Norway?") == ()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is the price of that bicycle?", "80 euros"),
        ("when does the kettle get repaired?", "broken again"),
        ("青岛崂山怎么爬？", "大雨"),
    ],
)
def test_what_no_entry_was_made_of_yet_is_found_as_easily_as_an_entry(
    talk: TranscriptIndex, question: str, answer: str
) -> None:
    """An hour after it was said no file has it; one rare word of a short question is enough."""
    newest = len(talk) - len(TALK)
    assert asked(talk, question) == ()
    assert any(answer in item.text for item in asked(talk, question, learnt=newest))
    assert asked(talk, question, learnt=len(talk)) == ()


@each(
    ("question", "answer"),
    [
        ("offsite?", "Where should the spring offsite be?"),
        ("which kettle?", "The kettle in the office kitchen is broken again."),
        ("崂山在哪？", "上周末我们去青岛爬了崂山"),
        ("崂山大雨", "上周末我们去青岛爬了崂山"),
    ],
)
def test_a_message_that_holds_all_words_of_a_short_question_answers_it(
    talk: TranscriptIndex, question: str, answer: str
) -> None:
    """However few they are, and whether it asks or only names a thing; words of asking aside."""
    assert any(answer in item.text for item in asked(talk, question))


@each(
    "text",
    ["which kettle leaks?", "崂山门票多少钱？", "the kettle", "怎么爬崂山？", "我去崂山了"],
)
def test_a_message_that_holds_some_of_the_words_does_not(talk: TranscriptIndex, text: str) -> None:
    """Nor does what tells, asks for a way to do things, or is one word and no question."""
    assert asked(talk, text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "how do you repair a kettle?",
        "have you ever been to Lisbon?",
        "the old kettle is gone",
        "which neighbour repaired the roof of our cabin in Norway?",
    ],
)
def test_one_word_of_many_is_chance_there_too(talk: TranscriptIndex, text: str) -> None:
    """And a statement asks nothing, though it holds a word that questions begin with."""
    assert asked(talk, text, learnt=0) == ()


def test_what_the_asker_said_before_is_found_by_who_asks(talk: TranscriptIndex) -> None:
    """The question is of a person, as if their name stood in it."""
    question = "which machine did I say makes our tea at the office?"
    query = refined(question, talk.words, now=NOW, speaker="Dana", synonyms=SYNONYMS)
    room = ExcerptLimits(len(talk), BlockBudget(5_000, 700))
    found = excerpts(talk, query, room, now=NOW, synonyms=SYNONYMS)
    assert any("kettle" in item.text for item in found)
    assert not any("kettle" in item.text for item in asked(talk, question))


def test_what_the_model_still_sees_is_left_out(talk: TranscriptIndex) -> None:
    """Hits and their neighbours alike come from before the bound."""
    married = len(TALK)
    assert asked(talk, "Where did Dana's brother get married?", before=len(talk) - married) == ()
    found = asked(talk, "Where did Dana's brother get married?", before=len(talk) - married + 1)
    assert [item.text for item in found if "Lisbon" in item.text] == [TALK[0][1]]
    assert not any("Congratulations" in item.text for item in found)


def test_they_stand_in_the_order_they_were_said_with_who_and_when(talk: TranscriptIndex) -> None:
    """As the talk went, so that a reader can follow it."""
    found = asked(talk, "Where did Dana's brother get married?")
    assert [item.when for item in found] == sorted(item.when for item in found)  # type: ignore[type-var]
    said = next(item for item in found if "Lisbon" in item.text)
    assert (said.speaker, said.time[:10]) == ("Dana", f"{NOW - timedelta(days=51):%Y-%m-%d}")


def test_they_stay_within_their_room(talk: TranscriptIndex) -> None:
    """Whole messages only; what is shown already, by id or in the same words, takes none of it."""
    question = "Where did Dana's brother get married?"
    best = next(item for item in asked(talk, question) if "Lisbon" in item.text)
    assert asked(talk, question, max_tokens=10) == ()
    assert asked(talk, question, max_chars=20) == ()
    assert best not in asked(talk, question, shown=frozenset((best.id,)))
    assert best not in asked(talk, question, known=frozenset((best.text.casefold(),)))


@pytest.mark.parametrize("sign", ["<", "\u202e", "名", "😀"])
@pytest.mark.parametrize("times", [30, 150, 3_000])
def test_no_name_or_text_makes_them_larger_than_their_room(
    words: Words, sign: str, times: int
) -> None:
    """What a sign costs as an escape is counted, and of a long name a part is shown."""
    index = TranscriptIndex(words)
    for number in range(20):
        name, end = (sign * times, "") if number % 2 else ("Dana", sign * times)
        time = NOW - timedelta(days=40 - number)
        text = f"Leo's wedding {number} was in Lisbon {end}"
        index.add([message_item(Message.user(text, id=f"w{number}", speaker=name, time=time))])
    found = asked(index, "where was our Leo's wedding?", max_chars=2_000, max_tokens=500)
    block = context_block(found, b"key")
    assert found
    assert len(block) <= 2_000
    assert estimate(block) <= 500


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            [
                "妈妈: 别记下来：我给Leo买了一把新大提琴，这是圣诞惊喜",
                ": 好的，新大提琴的事我不说。",
            ],
            "妈妈给Leo买了什么圣诞惊喜？",
        ),
        (
            ["Ana: off the record: Halden's CTO told me they are about to cancel"],
            "what did Halden's CTO tell us about cancel?",
        ),
        (
            ["Ben: this stays between us: I lost my job", ": Sorry about the job, Ben."],
            "who lost my job?",
        ),
        (
            ["Ben: I lost my job", ": Sorry to hear of your job.", "Ben: off the record, that"],
            "what happened with the job of Ben?",
        ),
        (
            ["Ben: I lost my job last week", "Ana: lunch is here", "Ben: don't write that down"],
            "what happened with the job of Ben?",
        ),
        (["小李: 我下个月辞职去青岛", "小李: 刚才那句别记"], "小李下个月辞职去哪里？"),
    ],
)
def test_what_is_not_to_be_noted_is_no_excerpt(
    words: Words, said: list[str], question: str
) -> None:
    """Neither found nor as a neighbour, nor what the bot said to it; without the wish it is."""
    kept = [line.replace("别记下来：", "").replace("off the record: ", "") for line in said]
    kept = [line for line in kept if not line.endswith(("that", "down", "别记"))]
    kept = [line.replace("this stays between us: ", "") for line in kept]
    assert _found_of(kept, asked(_talk_of(words, kept), question))
    assert _found_of(said, asked(_talk_of(words, said), question)) <= {"lunch is here"}


def _found_of(said: list[str], items: Sequence[Item]) -> set[str]:
    """What of these lines was found."""
    return {line.partition(": ")[2] for line in said} & {item.text for item in items}


def _talk_of(words: Words, said: list[str]) -> TranscriptIndex:
    """An index over lines with who says them, behind talk of the trade."""
    index = TranscriptIndex(words)
    lines = [*(f"Tom: Ticket {number} is closed." for number in range(9)), *said]
    for number, line in enumerate(lines):
        speaker, _, text = line.partition(": ")
        role = "user" if speaker else "assistant"
        time = NOW - timedelta(days=3, minutes=-number)
        index.add([message_item(Message(role, text, id=f"m{number}", speaker=speaker, time=time))])  # type: ignore[arg-type]
    return index


def test_what_a_tool_printed_is_no_excerpt(words: Words) -> None:
    """It is long, and nobody said it."""
    index = TranscriptIndex(words)
    printed = Message("tool", "Leo's wedding: Lisbon, 14 guests", id="t", time=NOW)
    said = Message.user("Leo's wedding was in Lisbon", id="u", speaker="Dana", time=NOW)
    index.add(map(message_item, (printed, said)))
    assert [item.id for item in asked(index, "where was our Leo's wedding?")] == ["log:u"]


def test_filler_beside_an_answer_is_no_excerpt(words: Words) -> None:
    """The answer comes alone, whether the bot or somebody else acknowledged it, or asked the same."""
    index = TranscriptIndex(words)
    told = (
        *[("Tom", f"Ticket {number} is closed.") for number in range(40)],
        ("Tom", "When is our sound check at the opera?"),
        ("", "I know nothing about that."),
        ("Dana", "Our sound check at the opera is at half past four."),
        ("", "Noted!"),
        ("Tom", "ok, thanks"),
    )
    for number, (speaker, text) in enumerate(told):
        time = NOW - timedelta(days=2, minutes=100 - number)
        role = "user" if speaker else "assistant"
        message = Message(role, text, id=f"m{number}", speaker=speaker, time=time)
        index.add([message_item(message)])
    found = asked(index, "when is our sound check at the opera?")
    texts = [item.text for item in found if not item.text.startswith("Ticket")]
    assert texts == ["Our sound check at the opera is at half past four."]
