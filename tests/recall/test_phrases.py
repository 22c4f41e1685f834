"""The lists of words and phrases."""

from __future__ import annotations

from collections.abc import Iterable
from re import _parser  # type: ignore[attr-defined]  # the only parser of regular expressions
from typing import Any

from pipimem import resources
from pipimem.recall import phrases, query
from pipimem.recall.phrases import weak_words
from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import stop_words
from pipimem.text.words.stemmer import Stemmer

from tests.cases import each


@each("table", sorted(resources.sections("recall/weak_words")))
def test_english_words_stand_as_the_stemmer_leaves_them(table: str) -> None:
    """A word in another form would never be met: a stem is its own stem, and no stop word
    arrives.
    """
    stem = Stemmer().stem
    words = weak_words(table)
    unstable = {word for word in words if word.isascii() and stem(stem(word)) != stem(word)}
    assert unstable == set()
    assert words & stop_words() == set()


def test_words_of_talk_arrive_at_their_stems() -> None:
    """The forms people write meet the tables."""
    stem = Stemmer().stem
    for form in ("minutes", "working", "thanks", "yesterday", "decided", "previously", "people"):
        assert stem(form) in weak_words("common")


def test_every_pattern_compiles() -> None:
    """Patterns are compiled on first use, so an error in one would show late."""
    patterns = [
        value
        for room in (phrases, query)
        for value in vars(room).values()
        if isinstance(value, Pattern)
    ]
    for pattern in patterns:
        pattern()
    assert len(patterns) == 7
    for section in resources.sections("recall/phrases"):
        phrases.phrases(section.partition(":")[0])


@each("name", ["phrases", "answer_kinds"])
def test_what_stands_under_chinese_needs_a_character_beyond_ascii(name: str) -> None:
    """Texts of ASCII are not searched for it: a line that fits one would be missed there."""
    for section, lines in resources.sections(f"recall/{name}").items():
        if section.endswith(": chinese"):
            fits = [line for line in lines if not _needs_more_than_ascii(_parser.parse(line))]
            assert fits == [], section


def test_phrases_begin_where_their_section_says() -> None:
    """A word between bounds, an opening at a word's beginning, the rest anywhere."""
    sections = {
        "some: words": ("red", "blue"),
        "some: openings": ("gre+n",),
        "some": ("!",),
        "some: chinese": ("红",),
    }
    finder = phrases.phrase_finder(sections, "some")
    for text in ("it is red", "blue it is", "greenish", "oh!", "是红的"):
        assert finder.find_in(text) is not None, text
    for text in ("reddish", "evergreen", "infrared", "是绿的", ""):
        assert finder.find_in(text) is None, text
    assert phrases.phrase_finder(sections, "none").find_in("red 红") is None


def _needs_more_than_ascii(parsed: Iterable[tuple[Any, Any]]) -> bool:
    return any(_piece_needs_more_than_ascii(str(kind), value) for kind, value in parsed)


def _piece_needs_more_than_ascii(kind: str, value: Any) -> bool:
    """Whether one piece of a parsed regular expression fits no character of ASCII."""
    match kind:
        case "LITERAL":
            return value > 127
        case "IN":
            return all(
                (str(one) == "LITERAL" and of > 127) or (str(one) == "RANGE" and of[0] > 127)
                for one, of in value
            )
        case "BRANCH":
            return all(_needs_more_than_ascii(branch) for branch in value[1])
        case "SUBPATTERN":
            return _needs_more_than_ascii(value[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return value[0] >= 1 and _needs_more_than_ascii(value[2])
        case _:
            return False


@each("name", ["phrases", "weak_words", "small_talk", "memory_questions"])
def test_each_line_holds_one_phrase_in_small_letters_of_its_pattern(name: str) -> None:
    """No line stands twice in its list, none ends in white space; what is looked for in small
    letters is written so.
    """
    for section, lines in resources.sections(f"recall/{name}").items():
        assert len(set(lines)) == len(lines), section
        assert [line for line in lines if line != line.strip()] == []
        if name in ("phrases", "weak_words"):
            assert [
                line for line in lines if line.replace("\\Z", "") != line.replace("\\Z", "").lower()
            ] == []
