"""Marks the words of a search in what was found."""

from __future__ import annotations

import re

from markupsafe import Markup

from pipimem.text.characters import HAN
from pipimem.web.markdown import plain

# Of a Latin word its beginning counts, so that "deploys" marks "deployed".
_ENDING = 3
_LEAST = 3
_LATIN = re.compile(rf"[^\W_{HAN}]+")
_HAN = re.compile(rf"[{HAN}]+")
# A longer text is cut there, as `plain` would.
_MOST_CHARS = 20_000
_NOTHING = re.compile(r"(?!)()")


class Highlighter:
    """Marks the words of a query in a text, and makes HTML of it that can do nothing."""

    def __init__(self, query: str) -> None:
        words = [_beginning(word) for word in _LATIN.findall(query)]
        for run in _HAN.findall(query):
            words += [re.escape(run[at : at + 2]) for at in range(max(1, len(run) - 1))]
        pattern = "|".join(sorted(set(words), key=len, reverse=True))
        # Looked for at each place: pairs of characters that overlap are all found.
        self._words = re.compile(f"(?=({pattern}))", re.IGNORECASE) if pattern else _NOTHING

    def __call__(self, text: str) -> Markup:
        """The text with its words in `<mark>`; neighbours share one."""
        parts: list[Markup] = []
        end = 0
        found = self._words.finditer(text, 0, _MOST_CHARS)
        for begin, stop in _joined([one.span(1) for one in found]):
            parts.append(plain(text[end:begin]))
            parts.append(Markup("<mark>{}</mark>").format(plain(text[begin:stop])))
            end = stop
        parts.append(plain(text[end:]))
        return Markup("").join(parts)


def _beginning(word: str) -> str:
    if len(word) <= _LEAST:
        return rf"\b{re.escape(word)}\b"
    return rf"\b{re.escape(word[: max(_LEAST, len(word) - _ENDING)])}\w*"


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that touch as one."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined
