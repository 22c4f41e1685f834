"""Stems of English words: went, going and goes are one word to an index."""

from __future__ import annotations

from collections.abc import Callable

from pipimem.text.patterns import Pattern
from pipimem.text.word_lists import forms, keep_their_s

# "organise" is "organize"; not so where -ise belongs to the word.
_ISE = Pattern(r"([a-z]{4,})is(e[drs]?|ers|ing|ations?)")


class Stemmer:
    """The stem of an English word: the one door to PyStemmer, loaded at the first word."""

    def __init__(self) -> None:
        self._stem: Callable[[str], str] | None = None

    def stem(self, word: str) -> str:
        """The stem of one lower-case word; "went" and "going" meet in "go"."""
        if self._stem is None:
            # Here: 4 ms, and never needed for Chinese alone.
            from Stemmer import Stemmer as SnowballStemmer

            self._stem = SnowballStemmer("english").stemWord
        return forms("kept_apart").get(word) or self._stem(
            forms("irregular_forms").get(word) or _american(word)
        )


def _american(word: str) -> str:
    spelt = forms("british_spelling")
    american = spelt.get(word) or spelt.get(word.removesuffix("s"))
    if american:
        return american
    found = _ISE().fullmatch(word) if "is" in word else None
    if found and found[1] not in keep_their_s():
        return f"{found[1]}iz{found[2]}"
    return word
