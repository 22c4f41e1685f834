"""Which known text a person's text grew out of: an editor may have loaded it many commits ago.

Known texts are many and nearly alike, so each is looked at by the lines that make it another than its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from pipimem.text.line_counts import Lines, added, more_lines, stands_in, step_back
from pipimem.text.lines import split_lines
from pipimem.text.similarity import alike, bigrams
from pipimem.text.splices import Splice

# Above this a line is another line reworded, and that is a smaller change than one left out and one added.
_REWORDED = 0.5
# Comparing each lost line with each new one is quadratic; who changed more did not reword one bullet.
_MOST_PAIRS = 400
_NO_LINE = "\n"


class Stood(NamedTuple):
    """A text that the journal knows for a file; `was_seen` unless it is certain that nobody but us read it there.

    `told` is the text, or makes it: `None` where it turns out that it cannot be told any more. `step` spares making it:
    the splices that turned it into the one before it that has a step of that kind or none, or how many more of each
    line it has than the first. The first may be one that never stood in the file, `was_seen` is `None` then.
    """

    told: str | Callable[[], str | None]
    was_seen: bool | None
    step: tuple[Splice, ...] | Lines | None = None

    @property
    def text(self) -> str:
        """The text. Raises `Untold` where that turns out to be lost."""
        text = self.told if isinstance(self.told, str) else self.told()
        if text is None:
            raise Untold
        return text


_NOBODYS = Stood("", was_seen=False)


class Untold(LookupError):
    """A text of the past was forgotten in part since; who gave it does not give it again."""


@dataclass(slots=True)
class Known:
    """The texts that stood in a file, the newest first: told anew each time they are gone through.

    Who goes through them sets `lacking` to the line for lack of which the last one with splices was of no use. Others
    that lack it may then be left out; `left_out` are lines of those.
    """

    tell: Callable[[Known], Iterator[Stood]]
    lacking: str = ""
    left_out: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Stood]:
        self.lacking = ""
        self.left_out.clear()
        return self.tell(self)


def newest_of(known: Known) -> str | None:
    """The newest text that stood in the file, `None` where none is known."""
    while True:
        with suppress(Untold):
            return next((one.text for one in known if one.was_seen is not None), None)


def nearest(text: str, known: Known) -> str:
    """The known text, of `known` with the newest first, from which the fewest changed characters lead to `text`;
    of two the newer.

    An older text word for word is a restore: it grew out of the newest. A text nobody has seen is none, unless
    `text` has a line that only it can have come from. Who has seen nothing wrote out of nothing: the empty text. Who
    left nothing deleted all they had. `known` is gone through again where one of its texts turns out to be lost.
    """
    while True:
        with suppress(Untold):
            return _nearest(text, known) if text.strip() else _emptied(known)


def _nearest(text: str, known: Known) -> str:
    looked = _Looked(text)
    for candidate in known:
        is_same = looked.step_to(candidate)
        if candidate.was_seen is None:
            continue
        if is_same:
            return looked.newest
        looked.weigh(candidate, known.left_out)
        known.left_out.clear()
        if isinstance(candidate.step, tuple):
            known.lacking = looked.lacking
    return looked.found()


def _emptied(known: Known) -> str:
    """What somebody had who left nothing: the newest text that was seen, not the shortest, which is the nearest.

    Where nobody is known to have read any, they meant whatever stands there.
    """
    newest = ""
    for candidate in known:
        if candidate.was_seen is not None and candidate.text.strip():
            if candidate.was_seen:
                return candidate.text
            newest = newest or candidate.text
    return newest


@dataclass(frozen=True, slots=True)
class _Best:
    """The nearest text so far; `is_unlikely` where somebody would have typed a line of a newer one by chance."""

    stood: Stood = _NOBODYS
    apart: float = inf
    is_unlikely: bool = True

    def __lt__(self, other: _Best) -> bool:
        return (self.is_unlikely, self.apart) < (other.is_unlikely, other.apart)


class _Likeness:
    """How far texts are apart; what was compared is not compared again."""

    def __init__(self) -> None:
        self._grams: dict[str, frozenset[str]] = {}
        self._shares: dict[tuple[str, str], float] = {}

    def apart(self, more: Lines) -> float:
        """The characters of the lines that differ, but for what reworded lines kept."""
        gone, came = _sides(more)
        apart = float(sum(map(len, gone)) + sum(map(len, came)))
        if len(gone) * len(came) <= _MOST_PAIRS:
            apart -= sum(self._rewordings(gone, came))
        return apart

    def _rewordings(self, gone: Sequence[str], came: Sequence[str]) -> Iterator[float]:
        """How many characters each reworded line kept, on both sides."""
        pairs = sorted(((self._share(old, new), old, new) for old in gone for new in came if old and new), reverse=True)
        taken: set[str] = set()
        for share, old, new in pairs:
            if share < _REWORDED:
                return
            if old not in taken and new not in taken:
                taken |= {old, new}
                yield share * (len(old) + len(new))

    def _share(self, old: str, new: str) -> float:
        share = self._shares.get((old, new))
        if share is None:
            share = self._shares[old, new] = alike(self._bigrams(old), self._bigrams(new))
        return share

    def _bigrams(self, line: str) -> frozenset[str]:
        if line not in self._grams:
            self._grams[line] = bigrams(line)
        return self._grams[line]


@dataclass(slots=True)
class _Looked:
    """What the texts looked at so far say about `text`."""

    text: str
    newest: str = ""
    # The text by which the lines of newer ones are known, and those of their lines that it has not.
    _first: str | None = None
    _brought: set[str] = field(default_factory=set)
    # Whether the lines of the one before it in the line of splices are among them.
    _is_in_line: bool = False
    # How many more of each line than `text` the first, the last in the line of splices, and the one at hand have.
    _of_first: Lines | None = None
    _in_line: Lines = field(default_factory=dict)
    _more: Lines = field(default_factory=dict)
    _given_away_by: str = _NO_LINE
    _seen: _Best = field(default_factory=_Best)
    _unseen: _Best = field(default_factory=_Best)
    _likeness: _Likeness = field(default_factory=_Likeness)

    def step_to(self, candidate: Stood) -> bool:
        """Takes the next text at hand; whether it is the very text looked for."""
        match candidate.step:
            case None:
                self._more = more_lines(candidate.text, self.text)
                if self._of_first is None:
                    self._of_first, self._in_line = self._more, self._more.copy()
                    self._is_in_line = candidate.was_seen is not None
            case tuple() as splices:
                step_back(self._in_line, splices)
                self._more = self._in_line
            case more:
                self._more = added(self._of_first or {}, more)
        return not self._more and candidate.text == self.text

    @property
    def lacking(self) -> str:
        """The line for lack of which the text at hand is of no use; empty where it is of some."""
        is_there = self._given_away_by == _NO_LINE or not self._is_settled
        return "" if is_there else self._given_away_by

    def weigh(self, candidate: Stood, passed_over: Iterable[str]) -> None:
        """Takes the text at hand into account; there were lines in newer ones that were passed over."""
        self._brought.update(filter(_says_something, passed_over))
        is_unlikely = self._is_unlikely()
        if not (is_unlikely and self._is_settled):
            # Who appends without reading has every line of it, too.
            counts = candidate.was_seen or (self._seen.apart == inf and self._is_grown(candidate))
            least = _Best(candidate, _least_apart(self._more), is_unlikely)
            if least < self._unseen or (counts and least < self._seen):
                found = _Best(candidate, self._likeness.apart(self._more), is_unlikely)
                self._unseen = min(self._unseen, found)
                self._seen = min(self._seen, found) if counts else self._seen
        self._brought.update(filter(_says_something, self._lines_of(candidate)))
        self.newest = self.newest or candidate.text

    def found(self) -> str:
        """The text it grew out of."""
        if self._is_settled:
            return self._seen.stood.text
        wanted = {line.strip() for line in split_lines(self.text)}
        return self._unseen.stood.text if any(map(self._is_in_newer, wanted)) else ""

    @property
    def _is_settled(self) -> bool:
        return self._seen.apart < inf and not self._seen.is_unlikely

    def _is_grown(self, candidate: Stood) -> bool:
        return all(times < 0 for times in self._more.values()) and bool(candidate.text.strip())

    def _is_unlikely(self) -> bool:
        """Whether `text` has a line of a newer text that the one at hand lacks."""
        if self._more.get(self._given_away_by, 0) < 0:
            return True
        lacking = [line for line, times in self._more.items() if times < 0]
        found = next((line for line in lacking if line in self._brought), None)
        found = next(filter(self._is_in_newer, lacking), None) if found is None else found
        self._given_away_by = _NO_LINE if found is None else found
        return found is not None

    def _is_in_newer(self, line: str) -> bool:
        return line in self._brought or (
            self._first is not None and _says_something(line) and stands_in(line, self._first)
        )

    def _lines_of(self, candidate: Stood) -> Iterable[str]:
        """Lines the text at hand has, those at least that neither the first nor the ones before it have."""
        if self._first is None:
            self._first, self._is_in_line = candidate.text, self._is_in_line or candidate.step is not None
            return ()
        match candidate.step:
            case tuple() as splices if self._is_in_line:
                more: Lines = {}
                step_back(more, splices)
            case None | tuple():
                self._is_in_line = self._is_in_line or candidate.step is not None
                return map(str.strip, split_lines(candidate.text))
            case more:
                pass
        return (line for line, times in more.items() if times > 0)


def _says_something(line: str) -> bool:
    return bool(line) and not line.startswith("#")


def _least_apart(more: Lines) -> float:
    """What texts with these differences are apart at least, however much they reworded."""
    gone, came = (sorted((len(line) for line in lines), reverse=True) for lines in _sides(more))
    if len(gone) * len(came) > _MOST_PAIRS:
        return float(sum(gone) + sum(came))
    pairs = min(len(gone), len(came))
    return float(sum(gone[pairs:]) + sum(came[pairs:]))


def _sides(more: Lines) -> tuple[list[str], list[str]]:
    """The lines that only the known text has, and those that only the other has, each as often as it does."""
    return (
        [line for line, times in more.items() for _ in range(times)],
        [line for line, times in more.items() for _ in range(-times)],
    )
