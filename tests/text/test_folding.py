"""Texts that read alike are equal once they are folded; others stay different."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st
from pipimem.store.forget.targets import ForgetTargets, without
from pipimem.text.folding import folded, folded_as_shown, stands_in

from tests.cases import each

KEY = b"k" * 32
WORDS = ("café", "door", "zebrakx", "Ann's", "co-op", "密码", "门锁", "4471", "naïve", "“hm”")
UNSEEN = ("", "\u200b", "\u00ad", "\u2060", "\ufeff", "\ufe0f", "\u200d", "\x07")
BLANKS = (" ", "  ", "\u00a0", "\u3000", "\n", "\n  ", " 👍🏽 ", " 👨\u200d👩\u200d👧 ", " :-) ")
MARKS = ("", "", "*", "**", "_", "__", "`", "~~", "***")
SHAPES = {"'": "'’‘ʼ", '"': '"“”„', "-": "-‐‑–—", "“": '"“', "”": '"”'}
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)


def typed_otherwise(data: st.DataObject, phrase: list[str]) -> str:
    """Return a phrase with other blanks, accents, widths, signs and marks, and unseen characters."""
    text = ""
    for word in phrase:
        form = data.draw(st.sampled_from(("NFC", "NFD")))
        letters = []
        for letter in normalize(form, word):
            letter = data.draw(st.sampled_from(SHAPES.get(letter, letter)))
            if letter.isascii() and letter.isalnum() and data.draw(st.booleans()):
                letter = data.draw(st.sampled_from((letter.upper(), chr(ord(letter) + 0xFEE0))))
            letters.append(letter + data.draw(st.sampled_from(UNSEEN)))
        mark = data.draw(st.sampled_from(MARKS))
        text += (
            (data.draw(st.sampled_from(BLANKS)) if text else "") + mark + "".join(letters) + mark
        )
    return text


@given(st.data(), words)
def test_a_phrase_is_found_however_it_was_typed(data: st.DataObject, phrase: list[str]) -> None:
    """Asked for in plain words; and a note loses just the entry that holds it."""
    text = typed_otherwise(data, phrase)
    targets = ForgetTargets.of([" ".join(phrase)])
    assert targets.are_in(f"we said: {text}, all of us")
    line = " ".join(text.split())
    kept, removed = without(f"- tea\n- so {line} so\n- milk\n", targets, KEY)
    assert kept == "- tea\n- milk\n"
    assert len(removed) == 1


@given(st.data(), words)
def test_what_was_typed_finds_itself(data: st.DataObject, phrase: list[str]) -> None:
    """Asked for as it stands, with all its marks."""
    text = typed_otherwise(data, phrase)
    assert ForgetTargets.of([text]).are_in(f"we said: {text}, all of us")


@given(st.data(), words)
def test_a_text_without_it_stays(data: st.DataObject, phrase: list[str]) -> None:
    """Whatever its marks and blanks."""
    text = f"- {' '.join(typed_otherwise(data, phrase).split())}\n- 2*3 `x` a_b\n"
    for asked in ("quokka", "doors", "23", "ab", "zebrak", "caf"):
        assert without(text, ForgetTargets.of([asked]), KEY) == (text, [])


@given(st.text(st.characters(exclude_categories=())))
def test_a_folded_text_is_folded(text: str) -> None:
    """A plan that was kept is folded once more."""
    assert folded(folded(text)) == folded(text)


@each(
    ("asked", "text"),
    [
        ("Tom", "tomorrow"),
        ("Tom", "Tom\u200borrow"),
        ("23", "2*3"),
        ("23", "2 * 3"),
        ("snakecase", "snake_case"),
        ("echo `date`", "echo date"),
        ("~5", "5 people"),
        ("**", "tea"),
        ("resume", "résumé"),
        ("co-op", "coop"),
        ("can't", "cant"),
    ],
)
def test_what_reads_otherwise_is_not_found(asked: str, text: str) -> None:
    """Parts of words, signs between them, and marks that somebody asks for."""
    assert not ForgetTargets.of([asked]).are_in(text)


@each(
    ("text", "shown"),
    [
        ("- the **door** code", "the door code"),
        ("say _so_ to `x`", "say so to x"),
        ("2 * 3 and 2*3", "2 * 3 and 2*3"),
        ("这是**重要**的", "这是重要的"),
        ("noon 🚀🚀 :-)", "noon"),
        ("# A\n- b", "a b"),
    ],
)
def test_marks_beside_words_are_not_shown(text: str, shown: str) -> None:
    """Bullets and emoji neither."""
    assert folded_as_shown(text) == shown


def test_a_needle_stands_between_words() -> None:
    """Inside words on request."""
    assert not stands_in("tomorrow", "tom", inside_words=False)
    assert stands_in("tomorrow", "tom", inside_words=True)
