"""When memory speaks and when it is silent: orders, habits, warnings, names, people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.recall import recall
from pipimem.recall.synonyms import load_synonyms
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import table
from tests.recall.conftest import NOW, items_of, notes_from

MEMORY = """## Preferences

- Maya (2026-02-01): I like my coffee with oat milk
- Tom (2026-02-02): please answer me in German
- 小林（2026-02-03）：我喜欢靠窗的座位

## Facts

- Maya (2026-02-04): I moved to Utrecht
- Maya (2026-02-06): my bike has a flat tyre
- Tom (2026-02-05): I play the cello
- Dana is allergic to mangoes
- 小林对芒果过敏
- 家里养了一只猫，叫芝麻
- 爸爸不吃虾
- OrderService is written in Go
- The app is built with React Native
- zephyr-renderer-v6 needs 4 GB
- zephyr-renderer-v7 needs 8 GB
- the service desk orders the paper
"""


@pytest.fixture(scope="module")
def speaking() -> tuple[Index, object]:
    """The memory's index, and the words of the template's language."""
    segmenter = Segmenter()
    words = Words(segmenter)
    synonyms = load_synonyms("", segmenter, words)
    index = Index(words)
    index.update(items_of(notes_from(memory=MEMORY)))
    return index, synonyms


def found(speaking: tuple[Index, object], ask: str, speaker: str = "") -> list[str]:
    """The texts that are shown."""
    index, synonyms = speaking
    shown = recall(index, ask, now=NOW, speaker=speaker, synonyms=synonyms)  # type: ignore[arg-type]
    return [item.text for item in shown.injected]


@pytest.mark.parametrize(
    "ask",
    table(__file__, "orders_that_name_nothing_of_memory_are_silent"),
)
def test_orders_that_name_nothing_of_memory_are_silent(
    speaking: tuple[Index, object], ask: str
) -> None:
    """Whatever language they come in."""
    assert found(speaking, ask) == []


@pytest.mark.parametrize(
    "ask", ["按我的习惯来", "老样子", "do it the way I like it", "as usual, please"]
)
def test_as_usual_brings_the_preferences_of_who_speaks(
    speaking: tuple[Index, object], ask: str
) -> None:
    """Nobody names what they like each time; without a known speaker it is everybody's."""
    assert found(speaking, ask, "Maya") == ["Maya (2026-02-01): I like my coffee with oat milk"]
    assert found(speaking, ask, "小林") == ["小林（2026-02-03）：我喜欢靠窗的座位"]
    assert len(found(speaking, ask, "Zoe")) == 3


@pytest.mark.parametrize(
    ("ask", "finds"),
    table(__file__, "what_is_named_is_found"),
)
def test_what_is_named_is_found(speaking: tuple[Index, object], ask: str, finds: str) -> None:
    """A warning though the question is general, one character, capitals, an identifier's slips."""
    assert found(speaking, ask)[0] == finds


def test_two_slips_do_not_change_a_number(speaking: tuple[Index, object]) -> None:
    """v6 is no v7."""
    assert "zephyr-renderer-v7 needs 8 GB" not in found(speaking, "zephy-rrnderer-v6")[:1]


def test_a_question_that_names_a_person_finds_what_they_said(
    speaking: tuple[Index, object],
) -> None:
    """However much of the memory is theirs; the asker is meant by "I"."""
    maya = {text for text in MEMORY.replace("- ", "").splitlines() if text.startswith("Maya")}
    assert set(found(speaking, "what does Maya like?")) == maya
    assert set(found(speaking, "who am I?", "Maya")) == maya
    assert found(speaking, "我是谁", "小林")[0].startswith("小林")
    assert found(speaking, "who am I?") == []


@pytest.mark.parametrize(
    ("ask", "speaker"),
    [
        ("which evenings did I say I can't make?", "Maya"),
        ("what was it that I told you all?", "Maya"),
        ("我说过哪天没空", "小林"),
        ("我跟大家说过的是哪个？", "小林"),
    ],
)
def test_what_the_asker_said_before_needs_no_word_in_common(
    speaking: tuple[Index, object], ask: str, speaker: str
) -> None:
    """Who asks is evidence; others get nothing of theirs, nor who tells that they said so."""
    texts = found(speaking, ask, speaker)
    assert texts
    assert all(text.startswith(speaker) for text in texts)
    assert found(speaking, "I said so", speaker) == []


def test_what_stands_in_other_words_alone_outweighs_a_common_verb(
    speaking: tuple[Index, object],
) -> None:
    """Nobody says 酒店 here; the line about the hotel comes before the one that shares 订 alone."""
    words, (_, synonyms) = speaking[0].words, speaking
    index = Index(words)
    lines = (
        "下次还是早点订场地，这次太赶了",
        "I booked the Hotel Arminius, two nights",
        "tea at ten",
    )
    index.update(items_of(notes_from(memory="".join(f"- {line}\n" for line in lines))))
    assert found((index, synonyms), "订了哪家酒店？")[0] == lines[1]


def test_a_name_in_front_says_who_said_it(words: Words) -> None:
    """As people write it by hand, without a day."""
    index = Index(words)
    lines = "".join(f"- Maya: note {number} of the trip\n" for number in range(40))
    index.update(items_of(notes_from(memory=f"## Facts\n\n{lines}- Tom: the cello\n")))
    shown = recall(index, "what did Maya say?", now=NOW).injected
    assert len(shown) == 8
    assert all(item.text.startswith("Maya: ") for item in shown)


def test_what_was_said_is_forgotten_with_its_entry(words: Words) -> None:
    """The index knows nobody of whom nothing is left."""
    index = Index(words)
    index.update(items_of(notes_from(memory="## Facts\n\n- Maya: note of the trip\n")))
    assert len(index.said_by("Maya")) == 1
    index.update([])
    assert index.said_by("Maya") == frozenset()


def _ids(words: Words, question: str, *items: Item, speaker: str = "") -> list[str]:
    index = Index(words)
    index.update(items)
    found = recall(index, question, now=NOW, speaker=speaker)
    return [one.item.id for one in found.candidates]


def _entry(name: str, text: str, **known: object) -> Item:
    return Item(name, Source.MEMORY, "Facts", "", text, **known)  # type: ignore[arg-type]


def test_a_newer_price_stands_before_an_older_one(words: Words) -> None:
    """Both tell an amount of what is asked for; the newer one is what holds."""
    crowd = [_entry(f"other{number}", f"something else {number}") for number in range(30)]
    old = _entry("old", "Studio rent is 300 euros a month.", when=NOW - timedelta(days=90))
    new = _entry("new", "The rent of the studio went up: 340 euros.", when=NOW - timedelta(days=3))
    found = _ids(words, "how much is the studio rent?", old, *crowd, new)
    assert found[:2] == ["new", "old"]


def test_a_past_day_that_is_named_brings_what_happened_then(words: Words) -> None:
    """Words or none in common; the other days stay away."""
    yesterday = NOW - timedelta(days=1)
    items = [
        Item(f"h{age}", Source.HISTORY, "", "", text, when=NOW - timedelta(days=age))
        for age, text in [(1, "The pump was replaced."), (2, "Rope and buckets were bought.")]
    ]
    question = f"did anything break on {yesterday:%Y-%m-%d}?"
    assert _ids(words, question, *items) == ["h1"]


def test_a_question_about_themselves_brings_what_carries_the_askers_name(words: Words) -> None:
    """Where no word of it stands anywhere."""
    items = [_entry("one", "Mara is allergic to nuts."), _entry("two", "Tom plays the cello.")]
    assert _ids(words, "which snacks can I have?", *items, speaker="Mara") == ["one"]
    assert _ids(words, "which snacks can I have?", *items) == []
