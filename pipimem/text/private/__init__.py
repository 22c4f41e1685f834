"""What people mark as private is taken out of a text before anything of it is written.

A stretch goes from an opening tag to its closing one; of stretches inside each other the outer one
counts. An opening angle or comment tag that is never closed hides the rest of its text, and never
anything of the next. The bracket form hides only where it is closed: `[PRIVATE]`, which stands in
the place of what was taken out, may come back in any answer. A closing tag with nothing open is
ordinary text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from operator import add

from pipimem.settings import PrivateSettings
from pipimem.text.patterns import Pattern
from pipimem.text.private.code_areas import code_areas
from pipimem.text.private.tags import Tag, is_blank, tags

# What stands, or stood in version 0.1, in the place of a stretch.
_MARKS = Pattern(r"\[(?:PRIVATE|REDACTED|private)\]")
_OPENING_MARK = PrivateSettings().marker
_LINE_ENDINGS = Pattern(r"\r\n|\r|\n")
_BLANK_LINES = Pattern(r"((?:^|\n)(?:[^\S\n]*\n){2})(?:[^\S\n]*\n)+")  # two stay
_DEFAULT = PrivateSettings()
# Taking a stretch out may join two halves of another tag; ordinary text needs 2. A text built so
# that more than this come to light is hidden whole.
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class PrivateCounts:
    """What was taken out of a text, or of several: zeros where nothing was.

    `stretches` were hidden in `messages`, which had `chars_before` characters and `chars_after` of
    them are left; in `unclosed` of the messages a tag was never closed.
    """

    messages: int = 0
    stretches: int = 0
    chars_before: int = 0
    chars_after: int = 0
    unclosed: int = 0

    def __add__(self, other: PrivateCounts) -> PrivateCounts:
        return PrivateCounts(*map(add, astuple(self), astuple(other)))


def without_private(text: str, settings: PrivateSettings = _DEFAULT) -> str:
    """Return the text with each private stretch replaced by the marker of the settings."""
    return hide_private(text, settings)[0]


def hide_private(text: str, settings: PrivateSettings = _DEFAULT) -> tuple[str, PrivateCounts]:
    """Return the text without its private stretches, and what was taken out.

    Hiding twice changes nothing more.
    """
    kept, hidden = text, PrivateCounts()
    for _ in range(_DEPTH):
        before = kept
        kept, stretches, unclosed = _hidden_once(before, settings)
        hidden = replace(
            hidden,
            stretches=hidden.stretches + stretches,
            unclosed=max(hidden.unclosed, int(unclosed)),
        )
        if kept == before:
            break
    else:
        endings = _LINE_ENDINGS().findall(text) if settings.keep_lines else []
        kept = "".join((settings.marker, *endings))
    if kept == text and not hidden.unclosed:
        return text, PrivateCounts()
    if kept != text and not settings.keep_lines:
        kept = _BLANK_LINES().sub(r"\1", kept)
    return kept, replace(hidden, messages=1, chars_before=len(text), chars_after=len(kept))


def without_marks(text: str) -> str:
    """Return the text without what stands in the place of private stretches."""
    return _MARKS().sub(" ", text) if "[" in text else text


def has_mark(text: str) -> bool:
    """Return whether something private was taken out of a text."""
    return "[" in text and _MARKS().search(text) is not None


def _hidden_once(text: str, settings: PrivateSettings) -> tuple[str, int, bool]:
    """Return the text without its stretches, how many there were, and whether a tag stays open."""
    found = _find_tags(text, settings)
    if not found:
        return text, 0, False
    areas = _bracket_areas(text, found)
    left_open: list[Tag] = []
    for form in ("angle", "comment"):
        closed, unclosed = _pairs(tag for tag in found if tag.form == form)
        areas += closed
        left_open += unclosed[:1]
    if settings.unclosed == "hide":
        areas += [(tag.start, len(text)) for tag in left_open]
    kept, stretches = _replaced(text, _joined(areas), found, settings)
    return kept, stretches, bool(left_open)


def _find_tags(text: str, settings: PrivateSettings) -> list[Tag]:
    """Return the private tags of a text, without those in code if code is literal."""
    found = list(tags(text))
    if found and settings.in_code == "literal":
        return list(_outside(found, list(code_areas(text))))
    return found


def _bracket_areas(text: str, found: Iterable[Tag]) -> list[tuple[int, int]]:
    """Return the stretches between bracket tags, by both readings of `[PRIVATE]`.

    A marker that came back opens nothing; the same text opens a stretch if somebody typed it.
    """
    brackets = [tag for tag in found if tag.form == "bracket"]
    without_markers = [tag for tag in brackets if text[tag.start : tag.end] != _OPENING_MARK]
    return _pairs(brackets)[0] + _pairs(without_markers)[0]


def _outside(found: Iterable[Tag], areas: Sequence[tuple[int, int]]) -> Iterator[Tag]:
    """Yield the tags that begin in none of the areas, which are in order and do not overlap."""
    starts = [start for start, _ in areas]
    for tag in found:
        index = bisect_right(starts, tag.start) - 1
        if index < 0 or tag.start >= areas[index][1]:
            yield tag


def _pairs(found: Iterable[Tag]) -> tuple[list[tuple[int, int]], list[Tag]]:
    """Return the stretches from the last open tag to each closing one, and the tags left open."""
    pairs: list[tuple[int, int]] = []
    opened: list[Tag] = []
    for tag in found:
        if not tag.is_closing:
            opened.append(tag)
        elif opened:
            pairs.append((opened.pop().start, tag.end))
    return pairs, opened


def _joined(areas: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the areas in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(areas):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _replaced(
    text: str, areas: Iterable[tuple[int, int]], found: Sequence[Tag], settings: PrivateSettings
) -> tuple[str, int]:
    """Return the text with the marker for each area, and how many had content.

    An empty pair leaves nothing, and no blank line where it was alone on its line.
    """
    pieces: list[str] = []
    reached = stretches = 0
    starts = [tag.start for tag in found]
    for start, end in areas:
        inner = found[bisect_left(starts, start) : bisect_left(starts, end)]
        pieces.append(text[reached:start])
        reached = end
        if _has_content(text, start, end, inner):
            pieces.append(settings.marker)
            stretches += 1
        elif not settings.keep_lines and text[start - 1 : start] in ("", "\n"):
            line_end = _LINE_ENDINGS().match(text, end)
            reached = line_end.end() if line_end else end
        if settings.keep_lines:
            pieces += _LINE_ENDINGS().findall(text, start, end)
    return "".join((*pieces, text[reached:])), stretches


def _has_content(text: str, start: int, end: int, inner: Sequence[Tag]) -> bool:
    """Return whether `text[start:end]` shows anything besides the tags in it."""
    ends = [start, *(tag.end for tag in inner)]
    between = zip(ends, [*(tag.start for tag in inner), end], strict=True)
    return not all(is_blank(text[first:last]) for first, last in between)
