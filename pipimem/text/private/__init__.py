"""What people mark as private is taken out of a text before anything of it is written.

A stretch goes from an opening tag to its closing one; of stretches inside each other the outer one
counts. An opening angle or comment tag that is never closed hides the rest of its text, and never
anything of the next. The bracket form hides only where it is closed: `[PRIVATE]`, which stands in
the place of what was taken out, may come back in any answer. A closing tag with nothing open is
ordinary text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pipimem.settings import PrivateSettings
from pipimem.text.patterns import Pattern
from pipimem.text.private.code_areas import code_areas
from pipimem.text.private.tags import Tag, is_blank, tags

# What stands, or stood in version 0.1, in the place of a stretch.
_MARKS = Pattern(r"\[(?:PRIVATE|REDACTED|private)\]")
_OPENING_MARK = PrivateSettings().marker
_LINE_ENDINGS = Pattern(r"\r\n|\r|\n")
_DEFAULT = PrivateSettings()
# Taking a stretch out may join two halves of another tag; ordinary text needs 2. A text built so
# that more than this come to light is hidden whole.
_DEPTH = 6
_BLANK_LINES = 2


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
        return PrivateCounts(
            self.messages + other.messages,
            self.stretches + other.stretches,
            self.chars_before + other.chars_before,
            self.chars_after + other.chars_after,
            self.unclosed + other.unclosed,
        )


def without_private(text: str, settings: PrivateSettings = _DEFAULT) -> str:
    """The text with each private stretch replaced by the marker of the settings."""
    return hide_private(text, settings)[0]


def hide_private(text: str, settings: PrivateSettings = _DEFAULT) -> tuple[str, PrivateCounts]:
    """The text without its private stretches, and what was taken out.

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
        kept = "".join((settings.marker, *_line_endings(text, 0, len(text), settings)))
    if kept == text and not hidden.unclosed:
        return text, PrivateCounts()
    if kept != text and not settings.keep_lines:
        kept = _with_few_blank_lines(kept)
    return kept, replace(hidden, messages=1, chars_before=len(text), chars_after=len(kept))


def without_marks(text: str) -> str:
    """The text without what stands in the place of private stretches."""
    return _MARKS().sub(" ", text) if "[" in text else text


def has_mark(text: str) -> bool:
    """Whether something private was taken out of a text."""
    return "[" in text and _MARKS().search(text) is not None


def _hidden_once(text: str, settings: PrivateSettings) -> tuple[str, int, bool]:
    """The text without its stretches, how many there were, and whether a tag stays open."""
    found = _meant(text, settings)
    if not found:
        return text, 0, False
    areas = _bracketed_areas(text, found)
    left_open: list[Tag] = []
    for form in ("angle", "comment"):
        closed, unclosed = _pairs(tag for tag in found if tag.form == form)
        areas += closed
        if unclosed is not None:
            left_open.append(unclosed)
    if settings.unclosed == "hide":
        areas += [(tag.start, len(text)) for tag in left_open]
    kept, stretches = _replaced(text, _joined(areas), found, settings)
    return kept, stretches, bool(left_open)


def _bracketed_areas(text: str, found: Iterable[Tag]) -> list[tuple[int, int]]:
    """The stretches between closed bracket tags.

    A marker that came back opens nothing; but where somebody typed the same it does, so what stands
    in a stretch by either reading goes.
    """
    brackets = [tag for tag in found if tag.form == "bracket"]
    typed = [tag for tag in brackets if text[tag.start : tag.end] != _OPENING_MARK]
    return _pairs(brackets)[0] + _pairs(typed)[0]


def _meant(text: str, settings: PrivateSettings) -> list[Tag]:
    """The tags of a text; none of its code, where the settings say so."""
    found = list(tags(text))
    if not found or settings.in_code != "literal":
        return found
    areas = list(code_areas(text))
    return _outside(found, areas) if areas else found


def _outside(found: Iterable[Tag], areas: Sequence[tuple[int, int]]) -> list[Tag]:
    """The tags that begin in none of the areas, which are in order and do not overlap."""
    starts = [start for start, _ in areas]
    kept = []
    for tag in found:
        place = bisect_right(starts, tag.start) - 1
        if place < 0 or tag.start >= areas[place][1]:
            kept.append(tag)
    return kept


def _pairs(found: Iterable[Tag]) -> tuple[list[tuple[int, int]], Tag | None]:
    """The stretches between each closing tag and the last one still open, and the first tag that
    is never closed.
    """
    pairs: list[tuple[int, int]] = []
    opened: list[Tag] = []
    for tag in found:
        if not tag.is_closing:
            opened.append(tag)
        elif opened:
            pairs.append((opened.pop().start, tag.end))
    return pairs, opened[0] if opened else None


def _joined(areas: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The areas in order, those that overlap made one."""
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
    """The text with the marker for each area, nothing for an empty one; how many had content."""
    pieces: list[str] = []
    reached = stretches = place = 0
    for start, end in areas:
        pieces.append(text[reached:start])
        inside, at = [], start
        while place < len(found) and found[place].start < end:
            tag = found[place]
            if tag.start >= start:
                inside.append(text[at : tag.start])
                at = tag.end
            place += 1
        inside.append(text[at:end])
        if not all(map(is_blank, inside)):
            pieces.append(settings.marker)
            stretches += 1
        pieces += _line_endings(text, start, end, settings)
        reached = end
    return "".join((*pieces, text[reached:])), stretches


def _line_endings(text: str, start: int, end: int, settings: PrivateSettings) -> list[str]:
    """What keeps the number of lines where `text[start:end]` is taken out, if it is to be kept."""
    return _LINE_ENDINGS().findall(text, start, end) if settings.keep_lines else []


def _with_few_blank_lines(text: str) -> str:
    """The text with two blank lines wherever there were more."""
    kept: list[str] = []
    blank = 0
    for line in text.split("\n"):
        blank = 0 if line.strip() else blank + 1
        if blank <= _BLANK_LINES:
            kept.append(line)
    return "\n".join(kept)
