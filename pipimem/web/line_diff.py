"""What changed between two texts, for eyes: lines with a little around them, words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from markupsafe import Markup

from pipimem.text.markdown.line_edits import changed_lines
from pipimem.text.markdown.lines import split_lines, without_ending
from pipimem.web.markdown import plain

_AROUND = 2
# Beyond so many lines a diff is no reading any more; the rest is counted.
_MOST_LINES = 400
# Comparing words is quadratic: longer lines are shown as one that went and one that came.
_LONGEST_LINE = 2_000
# A Han character is a word; others are runs of letters, of blanks, and single signs.
_WORDS = re.compile(r"[\u3400-\u9fff]|\w+?(?=[\u3400-\u9fff])|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line: `same`, `gone` or `came`; or `gap`, where so many lines are left out."""

    kind: str
    html: Markup


def diff_lines(before: str, after: str) -> list[DiffLine]:
    """The lines of a diff; empty for texts that say the same, whatever their line ends."""
    old = [without_ending(line) for line in split_lines(before)]
    new = [without_ending(line) for line in split_lines(after)]
    changes = list(changed_lines(old, new))
    found: list[DiffLine] = []
    shown = 0  # so many lines of the old text are told of
    for place, change in enumerate(changes):
        begin = max(shown, change.low - _AROUND)
        if begin > shown:
            found.append(DiffLine("gap", plain(f"⋯ {begin - shown}")))
        found += [_line("same", line) for line in old[begin : change.low]]
        found += _replaced(old[change.low : change.high], new[change.start : change.end])
        following = changes[place + 1].low if place + 1 < len(changes) else len(old)
        shown = min(following, change.high + _AROUND)
        found += [_line("same", line) for line in old[change.high : shown]]
    if changes and shown < len(old):
        found.append(DiffLine("gap", plain(f"⋯ {len(old) - shown}")))
    return _cut(found)


def _replaced(gone: Sequence[str], came: Sequence[str]) -> Iterator[DiffLine]:
    """Lines that went, then those that came; where they pair, the words that differ are marked."""
    if len(gone) != len(came) or any(len(line) > _LONGEST_LINE for line in (*gone, *came)):
        yield from (_line("gone", line) for line in gone)
        yield from (_line("came", line) for line in came)
        return
    for old, new in zip(gone, came, strict=True):
        marked = _marked(old, new)
        yield DiffLine("gone", marked[0])
        yield DiffLine("came", marked[1])


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    gone, came = Markup(), Markup()
    for each in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        kind, low, high, start, end = each
        gone += _word(before[low:high], kind)
        came += _word(after[start:end], kind)
    return gone, came


def _word(parts: Sequence[str], kind: str) -> Markup:
    words = plain("".join(parts))
    return words if kind == "equal" or not parts else Markup("<mark>{}</mark>").format(words)


def _line(kind: str, text: str) -> DiffLine:
    return DiffLine(kind, plain(text))


def _cut(lines: list[DiffLine]) -> list[DiffLine]:
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[:_MOST_LINES], DiffLine("gap", plain(f"⋯ {len(lines) - _MOST_LINES}"))]
