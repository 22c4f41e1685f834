"""What stands between `<private>` and `</private>` is taken out of a text.

It fails closed in all that is unclear: a tag that is never closed hides the rest, a tag in a code
span counts, an opening tag without its `>` counts, nested tags need as many closings, and of
several closings without an opening the last one ends a stretch from an earlier message. A closing
tag with nothing open is ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.text.patterns import Pattern

PRIVATE = "[private]"

# Full-width and escaped brackets are what phones and chat platforms make of plain ones.
# `<private-data>` is another tag. All up to the next bracket belongs to an opening tag: attributes,
# or text after a slip.
_BEGIN = r"(?:[<＜﹤]|&lt;)[ \t\u3000]{0,4}"
_TAG = Pattern(
    rf"{_BEGIN}(?:"
    r"(?P<closing>[/／][ \t\u3000]{0,4}private[ \t\u3000]{0,4}(?:[>＞﹥]|&gt;|(?![\w-])))"
    r"|private(?![\w-])(?P<attributes>[^<>＜＞﹤﹥&]*+(?:&(?!lt;|gt;)[^<>＜＞﹤﹥&]*+)*+)"
    r"(?:[>＞﹥]|&gt;|(?=[<＜﹤&]|\Z)))",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PrivateFilter:
    """Who has a private stretch open.

    It runs over messages of one speaker until that speaker closes it.
    """

    open: frozenset[str] = frozenset()

    def filtered(self, speaker: str, text: str) -> tuple[str, PrivateFilter]:
        """This speaker's next message without what is private, and the filter for the one after."""
        kept, still = filtered(text, speaker in self.open)
        return kept, PrivateFilter(self.open | {speaker} if still else self.open - {speaker})


def without_private(text: str) -> str:
    """The text with each private stretch as `[private]`, for a message that stands alone."""
    return filtered(text, open=False)[0]


def filtered(text: str, open: bool) -> tuple[str, bool]:  # noqa: A002 - what callers say
    """The text without its private stretches, and whether one is open at its end.

    `open` says that an earlier message of the same speaker opened one. The caller forgets that when
    the session ends, so that a tag that was never closed does not swallow a speaker for good.
    """
    tags = tuple(_TAG().finditer(text))
    if not open:
        return _without_stretches(text, tags, 0)
    closing = _last_unopened_closing(tags)
    if closing is None:
        return PRIVATE if tags or text.strip() else text, True
    kept, still_open = _without_stretches(text, tags, closing.end())
    return PRIVATE + kept, still_open


def _without_stretches(text: str, tags: Sequence[re.Match[str]], reached: int) -> tuple[str, bool]:
    """What is left of the text from `reached` on, and whether a stretch is open at its end."""
    kept: list[str] = []
    depth = 0
    for tag in tags:
        if tag.start() < reached:
            continue
        if tag["closing"] is None:
            if depth == 0:
                kept += (text[reached : tag.start()], PRIVATE)
            depth += _depth_added(tag, depth)
        elif depth:
            depth -= 1
        else:
            continue
        reached = tag.end()
    return "".join(kept) + ("" if depth else text[reached:]), depth > 0


def _depth_added(opening: re.Match[str], depth: int) -> int:
    """1, or 0 for a `<private/>` that hides nothing: within another stretch it counts."""
    is_empty = str(opening["attributes"] or "").rstrip().endswith("/")
    return 0 if is_empty and depth == 0 else 1


def closes_an_earlier(text: str) -> bool:
    """Whether the text ends a stretch that it did not begin itself."""
    return _last_unopened_closing(tuple(_TAG().finditer(text))) is not None


def _last_unopened_closing(tags: Sequence[re.Match[str]]) -> re.Match[str] | None:
    depth, last = 0, None
    for tag in tags:
        if tag["closing"] is None:
            depth += 1
        elif depth:
            depth -= 1
        else:
            last = tag
    return last
