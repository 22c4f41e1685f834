"""Texts that are nearly alike, told apart by how many more of each line one has than the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pipimem.text.lines import split_lines
from pipimem.text.shared_ends import shared_lines
from pipimem.text.splices import Splice

Lines = dict[str, int]
"""By line without its white space at both ends: how many more a text has than another, less than 0 where fewer. Never
0: whatever is not in it, both have as often."""


def more_lines(known: str, text: str) -> Lines:
    """What `known` has more than `text`. Line ends do not count: an editor that changes all of them changed no line."""
    head, tail = shared_lines(known, text)
    mine, others = (Counter(map(str.strip, split_lines(side[head : len(side) - tail]))) for side in (known, text))
    return {line: mine[line] - others[line] for line, _ in mine.items() ^ others.items()}


def step_back(more: Lines, splices: Iterable[Splice]) -> None:
    """Changes what a text has more to what the text has from which the splices made it.

    It is also what a text has more than another, once the splices have changed the other.
    """
    for splice in splices:
        for line in splice.removed:
            _add(more, line.strip(), 1)
        for line in splice.added:
            _add(more, line.strip(), -1)


def added(more: Lines, further: Lines) -> Lines:
    """What the first of three texts has more than the last, by what it has more than the second, and that than the last."""
    found = more.copy()
    for line, times in further.items():
        _add(found, line, times)
    return found


def stands_in(line: str, text: str) -> bool:
    """Whether a text has this line, white space at both ends aside."""
    at = text.find(line)
    while at >= 0:
        end = text.find("\n", at)
        around = text[text.rfind("\n", 0, at) + 1 : len(text) if end < 0 else end]
        if any(line == each.strip() for each in split_lines(around)):
            return True
        at = text.find(line, at + 1)
    return False


def _add(more: Lines, line: str, times: int) -> None:
    count = more.get(line, 0) + times
    if count:
        more[line] = count
    else:
        del more[line]
