"""Whether a message goes on with the sentence of the one before it, judged by their words alone.

The words at which no sentence ends or begins are data: `data/injection/open_sentences.txt`.
"""

from __future__ import annotations

from functools import cache

from pipimem import resources
from pipimem.text.characters import HAN, has_han
from pipimem.text.word_lists import Pattern, simplified
from pipimem.text.words.segmentation import Segmenter

_ENDS = ("。", ".", "!", "！", "?", "？", "…", "~", "～")
_GOES_ON = (",", "，", ":", "：", ";", "；", "、", "-", "–", "—", "(", "（", "“", "「", "《")
_CLOSING = "\"'”’)）」』》]】 "
_LAST_WORD = Pattern(r"(?:^|\s)([\w'’]+)$")
_FIRST_WORD = Pattern(r"^([\w'’]+)")
_LAST_HAN = Pattern(rf"[{HAN}]{{1,6}}$")
_FIRST_HAN = Pattern(rf"^[{HAN}]{{1,6}}")


def is_ended(text: str) -> bool:
    """Whether a text ends as sentences do."""
    return text.rstrip(_CLOSING).endswith(_ENDS)


def goes_on(before: str, after: str) -> bool:
    """Whether the sentence at the end of one message is the one at the beginning of the next."""
    before, after = before.rstrip(), after.lstrip()
    if not before or not after or is_ended(before):
        return False
    if before.endswith(_GOES_ON) or after.startswith(_GOES_ON):
        return True
    if has_han(before[-1] + after[0]):
        return _goes_on_in_chinese(before, after)
    return _goes_on_in_english(before, after)


def _goes_on_in_english(before: str, after: str) -> bool:
    if _edge_word(_LAST_WORD, before) in _words("no end"):
        return True
    if not after[0].islower():
        return False
    return before[0].isupper() or _edge_word(_FIRST_WORD, after) in _words("no beginning")


def _goes_on_in_chinese(before: str, after: str) -> bool:
    """Whether a word stands across both, or one at the edge ends or begins no sentence."""
    last, first = _LAST_HAN().search(before), _FIRST_HAN().search(after)
    ending, beginning = _cut(last[0] if last else ""), _cut(first[0] if first else "")
    if ending and not _words("no end").isdisjoint((ending[-1], ending[-1][-1])):
        return True
    if beginning and beginning[0] in _words("no beginning"):
        return True
    return bool(ending and beginning) and _stands_across("".join(ending), "".join(beginning))


def _stands_across(ending: str, beginning: str) -> bool:
    """Whether a word of the dictionary begins in one text and ends in the next."""
    place = 0
    for word in _cut(ending + beginning):
        if place < len(ending) < place + len(word):
            return _segmenter().knows(word)
        place += len(word)
    return False


def _cut(text: str) -> list[str]:
    return _segmenter().cut(simplified(text))


def _edge_word(pattern: Pattern, text: str) -> str:
    found = pattern().search(text)
    return found[1].casefold() if found else ""


@cache
def _words(heading: str) -> frozenset[str]:
    lines = resources.sections("injection/open_sentences")[heading]
    return frozenset(word for line in lines for word in line.split())


@cache
def _segmenter() -> Segmenter:
    return Segmenter()
