"""Things said twice, shown once; things that only sound alike, shown both."""

from __future__ import annotations

import pytest
from pipimem.notes.message import Message
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source, message_item
from pipimem.recall.recall import recall
from pipimem.recall.synonyms import load_synonyms
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import table
from tests.recall.conftest import NOW, items_of, notes_from


def shown(words: Words, question: str, *texts: str) -> set[str]:
    """The texts of the entries that a question brings."""
    index = Index(words)
    index.update(
        [
            Item(f"memory:{number}", Source.MEMORY, "Facts", "", text)
            for number, text in enumerate(texts)
        ]
        + [
            Item(f"memory:other{number}", Source.MEMORY, "Facts", "", f"something else {number}")
            for number in range(30)
        ]
    )
    return {one.item.text for one in recall(index, question, now=NOW).candidates}


@pytest.mark.parametrize(
    ("one", "other"),
    table(__file__, "a_name_a_number_or_a_letter_makes_another_fact"),
)
def test_a_name_a_number_or_a_letter_makes_another_fact(words: Words, one: str, other: str) -> None:
    """Hardly a word differs, and it is the one that matters: both are shown."""
    question = (
        "备份服务器机房的钥匙"
        if not one.isascii()
        else "tell me about the backup server, its room and data centre"
    )
    assert shown(words, question, one, other) == {one, other}


@pytest.mark.parametrize(
    ("one", "other"),
    table(__file__, "what_is_said_twice_is_shown_once"),
)
def test_what_is_said_twice_is_shown_once(words: Words, one: str, other: str) -> None:
    """Other endings, case and punctuation make no other fact."""
    question = (
        "备份服务器机房的钥匙"
        if not one.isascii()
        else "tell me about the backup server and its data centre"
    )
    assert len(shown(words, question, one, other)) == 1


def test_who_said_it_and_when_make_no_other_fact(words: Words) -> None:
    """The better of two is shown; the file still has both."""
    one = "Dana (2026-03-02): The backup server stands in the Berlin data centre"
    other = "Priya (2026-04-09): The backup server stands in the Berlin data centre"
    assert len(shown(words, "the backup server in the Berlin data centre", one, other)) == 1


def test_what_two_people_say_of_themselves_are_two_facts(words: Words) -> None:
    """ "I" is somebody else each time."""
    one = "Dana (2026-03-02): I keep the key of the backup server room in Berlin"
    other = "Priya (2026-03-02): I keep the key of the backup server room in Berlin"
    assert shown(words, "the key of the backup server room in Berlin", one, other) == {one, other}


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    table(__file__, "of_two_words_on_one_subject_the_newer_comes_first"),
)
def test_of_two_words_on_one_subject_the_newer_comes_first(
    words: Words, question: str, older: str, newer: str
) -> None:
    """Both are shown, each with its day, wherever they stand in the file."""
    for texts in ((older, newer), (newer, older)):
        lines = "".join(f"- {text}\n" for text in texts)
        index = Index(words)
        index.update(
            items_of(notes_from(memory=f"## Facts\n\n{lines}- The cat is called Wasabi\n"))
        )
        injected = recall(index, question, now=NOW).injected
        assert [item.text for item in injected] == [newer, older]
        assert all(item.when for item in injected)


@pytest.mark.parametrize(
    ("newer", "is_first"),
    [
        ("Dana (2026-03-10): the 2.4 release moves to Thursday 12 March at ten", True),
        ("Dana (2026-03-10): the 2.4 release notes are green", False),
        ("Dana (2026-03-10): the release of the handbook is on 12 March", False),
        ("Dana (2026-02-10): the 2.4 release is on 12 March", False),
    ],
    ids=["another language", "no time", "no number", "older"],
)
def test_of_two_times_the_newer_comes_first_in_any_language(
    words: Words, newer: str, is_first: bool
) -> None:
    """Where it holds as many of the question's words; they have no words in common."""
    older = "林晓（2026-03-02）：2.4 的发布窗口先定在下周二晚上九点到十点"
    index = Index(words)
    index.update(items_of(notes_from(memory=f"## Facts\n\n- {older}\n- {newer}\n")))
    synonyms = load_synonyms("发布, release\n", Segmenter(), words)
    found = recall(index, "2.4 什么时候发布？", now=NOW, synonyms=synonyms).candidates
    assert (found[0].item.text == newer) is is_first


def test_what_is_newer_but_says_less_of_the_matter_stays_behind(words: Words) -> None:
    """And the older word is first where its day is asked for."""
    port, moved = (
        "Tom (2026-02-01): the gateway uses port 8080",
        "Tom (2026-03-01): the gateway uses port 9090 now",
    )
    log = "Tom (2026-03-02): the gateway logs to /var/log/gateway.log"
    index = Index(words)
    index.update(items_of(notes_from(memory=f"## Facts\n\n- {port}\n- {log}\n")))
    assert recall(index, "which port does the gateway use?", now=NOW).injected[0].text == port
    index.update(items_of(notes_from(memory=f"## Facts\n\n- {port}\n- {moved}\n")))
    asked = "which port did the gateway use on 2026-02-01?"
    assert [item.text for item in recall(index, asked, now=NOW).injected] == [port, moved]


def test_a_quote_is_cut_once_for_all_questions(
    words: Words, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second question cuts nothing but itself."""
    index = Index(words)
    index.update(
        items_of(
            notes_from(memory="## Facts\n\n- Dana (2026-03-02): the backup server is in Berlin\n")
        )
    )
    cut: list[str] = []
    whole = Words.bag
    monkeypatch.setattr(Words, "bag", lambda self, text: cut.append(text) or whole(self, text))  # type: ignore[func-returns-value]
    for question in ("where is the backup server?", "which backup server is in Berlin?"):
        assert recall(index, question, now=NOW).injected
    assert [text for text in cut if text.startswith("the backup")] == [
        "the backup server is in Berlin"
    ]


def test_one_sentence_takes_one_place_whatever_files_it_stands_in(words: Words) -> None:
    """Nor do a heading of people's own, a block's title, or a message's day make another fact."""
    said = "the kiln is fired with oak"
    message = Message.user(said, id="m1", speaker="Dana", time=NOW)
    notes = notes_from(
        session=f"# Worklog\n\n- {said}\n",
        memory=f"## About the old workshop in town\n\n- Dana (2026-03-01): {said}\n",
        history=f"## 2026-03-02 09:10–18:20 +08:00 · Rehearsal of the party\n\n- {said}\n",
    )
    index = Index(words)
    index.update([*items_of(notes), message_item(message)])
    assert len(recall(index, "what is the kiln fired with?", now=NOW).candidates) == 1
