"""Messages that answer nothing: acknowledgements, and the question once more."""

from __future__ import annotations

from pipimem.recall.phrases import phrases
from pipimem.text.patterns import Pattern
from pipimem.text.words.index_words import Words

# Whoever writes more says something.
_LONGEST = 160

_SIGNS = Pattern(r"[\W_]+")


def is_filler(text: str, asked: str, words: Words) -> bool:
    """Whether a message is nothing but acknowledgements and what is `asked`, or a part of that.

    "yes", "no" and a negated sentence answer; so does a statement in the question's own words.
    """
    if len(text) > _LONGEST:
        return False
    left = phrases("acknowledging").sub(" ", text.lower())
    if phrases("yes or no").search(left):
        return False
    said = _SIGNS().sub(" ", left).strip()
    if f" {said} " in f" {_SIGNS().sub(' ', asked.lower()).strip()} " or not said:
        return True
    if not text.rstrip().endswith(("?", "？")):
        return False
    again, first = words.bag(left), words.bag(asked)
    return set(again.words) <= set(first.words) and set(again.grams) <= set(first.grams)
