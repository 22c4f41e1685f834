"""The past text that a person's text was made of: an editor may have loaded it long ago."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pipimem.state.texts import PastText
from pipimem.text.folding import MARKERS
from pipimem.text.markdown.line_edits import shared_ends
from pipimem.text.markdown.lines import split_lines


def merge_base(
    text: str,
    past: Iterable[PastText],
    line_of: Callable[[Any], str],
    *,
    may_restore: bool = True,
) -> str:
    """Return the past text nearest to `text` by whole lines.

    `past` are the texts that stood in the file, newest first; without any the result is "".
    `line_of` has the line for what stands for it. Letters of different lines are never compared: in
    doubt an older text is the base, and both lines stay.

    An empty text was made of the newest that is not empty. An older text of ours, word for word, is
    a restore, so its base is the newest; a text that an editor saved before was only saved again,
    and so was any without `may_restore`.
    """
    candidates = _candidates(split_lines(text), past, line_of)
    if not text.strip():
        return _first_filled(candidates, line_of)
    newest: PastText | None = None
    best: _Candidate | None = None
    for candidate in candidates:
        newest = newest or candidate.past
        is_same = may_restore and candidate.rank.lines == 0
        if is_same and _joined(candidate.past, line_of) == text:
            return text if candidate.past.is_saved else _joined(newest, line_of)
        best = candidate.nearer(best)
    # Where the file was emptied since, that may have been the first half of the save at hand: then
    # nothing that it took out counts as deleted.
    if best is None or best.rank.is_before_emptying:
        return ""
    return _joined(best.past, line_of)


def _first_filled(candidates: Iterable[_Candidate], line_of: Callable[[Any], str]) -> str:
    filled = (_joined(each.past, line_of) for each in candidates if not each.is_blank)
    return next(filled, "")


def _joined(past: PastText, line_of: Callable[[Any], str]) -> str:
    return "".join(map(line_of, past.lines))


class _Rank(NamedTuple):
    """How far a past text is; the nearest is the least.

    Of two that differ in as many lines, the one that lacks fewer lines of the text is nearer.
    """

    is_outdated: bool
    lines: int
    lacking: int
    is_before_emptying: bool


class _Candidate(NamedTuple):
    """A past text with its rank.

    `is_typed`: the text has a line that neither this past text nor a newer one had.
    """

    past: PastText
    rank: _Rank
    is_typed: bool
    is_blank: bool

    def nearer(self, newer: _Candidate | None) -> _Candidate:
        """Return the nearer of this and a newer candidate.

        Of equals it is the older one, from which fewer lines count as deleted; the newer only if
        nothing was typed, so that a deletion alone holds.
        """
        if newer is None or self.rank < newer.rank:
            return self
        return self if self.rank == newer.rank and self.is_typed else newer


def _candidates(
    wanted: Sequence[str], past: Iterable[PastText], line_of: Callable[[Any], str]
) -> Iterator[_Candidate]:
    """Yield the past texts, newest first.

    A blank text is near to whatever is short. So an older one counts only for a text of which no
    line stood in the file since: its editor began with an empty file.
    """

    def words_of(lines: Iterable[Any]) -> Iterator[str]:
        return map(_words, map(line_of, lines))

    difference: LineDifference | None = None
    own_lines = len(set(filter(None, map(_words, wanted))))
    was_emptied = False
    before: Sequence[Any] = ()
    for number, each in enumerate(past):
        is_blank = not any(line_of(line).strip() for line in each.lines)
        is_all_typed = difference is not None and difference.count_typed == own_lines
        if number == 0 or not is_blank or is_all_typed:
            if difference is None:
                newest = tuple(map(line_of, each.lines))
                head, tail = shared_ends(wanted, newest)
                typed = map(_words, wanted[head : len(wanted) - tail])
                difference = LineDifference(typed)
                difference.replace((), map(_words, newest[head : len(newest) - tail]))
            else:
                head, tail = shared_ends(before, each.lines)
                difference.replace(
                    words_of(before[head : len(before) - tail]),
                    words_of(each.lines[head : len(each.lines) - tail]),
                )
            before = each.lines
            yield _Candidate(
                each, difference.rank(was_emptied), difference.count_typed > 0, is_blank
            )
        was_emptied = was_emptied or is_blank


def _words(line: str) -> str:
    """Return a line without its bullet: an editor may replace the bullets of a whole file."""
    return line.strip() if line.startswith("#") else line.lstrip(MARKERS).rstrip()


def _weight(line: str) -> int:
    """Return 1; 0 for a heading: two people who type it take the same usual name."""
    return 0 if line.startswith("#") else 1


class LineDifference:
    """How a text and a past one differ in whole lines, kept up from one past text to the next.

    Neighbours in the past differ in few lines, and only those are counted. Blank lines do not
    count.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        # How often the past text has each line more than the text; never 0.
        self._surplus: dict[str, int] = {}
        # The lines of the text that no past text so far had as often.
        self._typed: set[str] = set()
        self._lacking = 0
        self._weight = 0
        self.replace(wanted, ())
        self._typed = set(self._surplus)

    @property
    def count_typed(self) -> int:
        """How many different lines of the text no past text so far had."""
        return len(self._typed)

    def rank(self, is_before_emptying: bool) -> _Rank:
        """Return how far the past text is.

        It is outdated if it lacks lines of the text, all of which newer past texts had: nobody
        types by chance just what came later, so whoever saved the text had loaded a newer one.
        """
        is_outdated = self._lacking > 0 and not self._typed
        return _Rank(is_outdated, self._weight, self._lacking, is_before_emptying)

    def replace(self, newer: Iterable[str], older: Iterable[str]) -> None:
        """Go on to the next past text, which has the lines `older` in the place of `newer`."""
        for line in filter(None, newer):
            self._count(line, -1)
        for line in filter(None, older):
            self._count(line, 1)

    def _count(self, line: str, times: int) -> None:
        before = self._surplus.pop(line, 0)
        after = before + times
        if after:
            self._surplus[line] = after
        if after >= 0:
            self._typed.discard(line)
        self._lacking += max(-after, 0) - max(-before, 0)
        self._weight += (abs(after) - abs(before)) * _weight(line)


def takes_lines_out(old: str, new: str) -> bool:
    """Return whether `new` is `old` without some of its lines.

    Blank lines, and white space at line ends, do not count.
    """
    before, after = _stripped(old), _stripped(new)
    remaining = iter(before)
    return len(after) < len(before) and all(line in remaining for line in after)


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in split_lines(text) if line.strip()]
