"""The past text that a person's text was made of: an editor may have loaded it long ago."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from pipimem.text.markdown.line_edits import shared_ends
from pipimem.text.markdown.lines import split_lines
from pipimem.text.words.similarity import alike, bigrams

# Above this a line is another one reworded: a smaller change than one left out and one added.
_REWORDED = 0.5
# Elsewhere than where the other stood. A line typed beside a text that lacks the other shares half
# of its pairs of letters with one of many lines by chance, and what is reworded is lost.
_REWORDED_AND_MOVED = 0.7
# Comparing each lost line with each new one is quadratic; who changed more reworded no bullet.
_MOST_PAIRS = 400
_FARTHEST = (True, float("inf"))


class PastText(NamedTuple):
    """A text that stood in a file, as lines.

    `is_saved` where it is what a person's editor saved and we merged: that editor may go on from
    it. `marked` are the lines with a placeholder for each that was forgotten since; empty where
    there is none.
    """

    lines: tuple[str, ...]
    is_saved: bool = False
    marked: tuple[str, ...] = ()


def merge_base(text: str, past: Iterable[PastText]) -> str:
    """Returns the past text that is the fewest changed characters from `text`; of two the newer.

    `past` are the texts that stood in the file, newest first; without any it is "". A line that
    `text` lacks and a newer past text lacks too counts for nothing: taking it out tells them not
    apart. Some are passed over where others are left:

    - one that lacks a line which both `text` and a newer one have: nobody types it by chance;
    - one of ours from which `text` differs only by lines that count for nothing: who took out of
    the newest all that came since leaves just that. (A person's own may be on their screen still.)
    - an older empty text: it would be near to whatever is short.

    Where the file was emptied since that text stood, the base is "": the emptying may have been the
    first half of the save at hand, so nothing that it took out counts as deleted.

    An empty text was made of the newest that is not empty. What stood before, word for word, is a
    restore, so it was made of the newest; but a person's own text was only saved again.
    """
    if not text.strip():
        return _newest_that_is_not_blank(past)
    wanted = split_lines(text)
    newest: Sequence[str] | None = None
    best: Sequence[str] = ()
    least = _FARTHEST
    for each, difference, age in _compared(wanted, past):
        newest = each.lines if newest is None else newest
        if each.lines == wanted:
            return "".join(each.lines if each.is_saved else newest)
        if _is_only_a_deletion(each, difference, age):
            continue
        found = difference.below(least)
        if found is not None:
            least = found
            best = () if age.is_before_emptying else each.lines
    return "".join(best)


def base_before_forgetting(text: str, past: Iterable[PastText]) -> str:
    """Returns the past text that is the fewest changed characters from `text`.

    `text` is one that forgotten lines were removed from, so it was made of a text from before the
    forgetting, and nobody took out by it what came since. It is "" for none, and where the file was
    emptied since: the emptying may have been the first half of the save at hand.
    """
    best: Sequence[str] = ()
    least = _FARTHEST
    for each, difference, age in _compared(split_lines(text), past):
        found = difference.below(least)
        if found is not None:
            least = found
            best = () if age.is_before_emptying else each.lines
    return "".join(best)


def _is_only_a_deletion(each: PastText, difference: _Difference, age: _Age) -> bool:
    """Whether the text looked for is one of ours without lines that a newer one lacks as well."""
    return not each.is_saved and age.has_newer and difference.is_only_taken_out()


def _newest_that_is_not_blank(past: Iterable[PastText]) -> str:
    return next(("".join(each.lines) for each in past if not _is_blank(each.lines)), "")


def closest(wanted: Sequence[str], past: Iterable[PastText]) -> PastText | None:
    """Returns the past text that the fewest changed characters lead from; of two the newer.

    Passed over, where others are left, is only one that lacks a line which both `wanted` and a
    newer one have. Returns `None` where there is no past text.
    """
    best: PastText | None = None
    least = _FARTHEST
    for each, difference, _ in _compared(wanted, past):
        found = difference.below(least)
        if found is not None:
            best, least = each, found
    return best


def _compared(
    wanted: Sequence[str], past: Iterable[PastText]
) -> Iterator[tuple[PastText, _Difference, _Age]]:
    """Each past text, how it differs from `wanted`, and what is newer than it.

    Blank ones are left out, but for the newest. The difference is one object, good until the next.
    """
    difference = _Difference(wanted)
    difference.count(map(str.strip, wanted), -1)
    ours: Sequence[str] = ()
    is_first, was_emptied = True, False
    for each in past:
        lines = each.lines
        is_blank = _is_blank(lines)
        if is_blank and not is_first:
            was_emptied = True
            continue
        is_first = False
        # Neighbours differ in few lines, and only those are counted: texts may have thousands.
        head, tail = shared_ends(ours, lines)
        newer = [line.strip() for line in ours[head : len(ours) - tail]]
        older = [line.strip() for line in lines[head : len(lines) - tail]]
        if ours:
            difference.taken_out |= set(older).difference(newer)
        difference.count(newer, -1)
        difference.count(older, 1)
        difference.compare_with(lines)
        yield each, difference, _Age(bool(ours), was_emptied)
        was_emptied = was_emptied or is_blank
        if each.is_saved:
            # The next one is a neighbour of ours before it.
            difference.count(older, -1)
            difference.count(newer, 1)
        else:
            ours = lines


def takes_lines_out(old: str, new: str) -> bool:
    """Whether `new` is `old` without some of its lines.

    Blank lines, and white space at line ends, do not count.
    """
    before, after = _words_of(old), _words_of(new)
    remaining = iter(before)
    return len(after) < len(before) and all(line in remaining for line in after)


def _words_of(text: str) -> list[str]:
    """The lines of a text without the blank ones and without white space at their ends."""
    return [line.strip() for line in split_lines(text) if line.strip()]


def _is_blank(lines: Iterable[str]) -> bool:
    return not any(map(str.strip, lines))


class _Age(NamedTuple):
    """What is newer than a past text: a text of ours, and a text without a line."""

    has_newer: bool
    is_before_emptying: bool


class _Difference(Struct):
    """How the text looked for and a past one differ, kept up from one past text to the next.

    `text` are the lines looked for; others are without white space at their ends. `surplus` is how
    often the past text has each more; never 0. `taken_out` are lines that a newer past text lacks.
    """

    text: Sequence[str]
    surplus: dict[str, int] = field(default_factory=dict)
    taken_out: set[str] = field(default_factory=set)
    # Lines that past texts had, and those of them that the one at hand has less than the text.
    _seen: set[str] = field(default_factory=set)
    _newer: set[str] = field(default_factory=set)
    _characters: int = 0
    _likeness: dict[tuple[str, str], float] = field(default_factory=dict)
    # The past text at hand, and once asked for, the places in both of the lines that differ.
    _past: Sequence[str] = ()
    _places: tuple[Mapping[str, str], Mapping[str, str]] | None = None

    def compare_with(self, past: Sequence[str]) -> None:
        """Makes this the past text at hand; its lines are counted."""
        self._past, self._places = past, None

    def count(self, lines: Iterable[str], times: int) -> None:
        """Adds `times` for each line: 1 where the past text has it, -1 where it has it no more."""
        for line in lines:
            before = self.surplus.pop(line, 0)
            after = before + times
            self._characters += (abs(after) - abs(before)) * len(line)
            if after:
                self.surplus[line] = after
            if times > 0 and line:
                self._seen.add(line)
            if after < 0 and line in self._seen:
                self._newer.add(line)
            else:
                self._newer.discard(line)

    def is_only_taken_out(self) -> bool:
        """Whether the text only lacks lines, and a newer past text lacks all of them as well."""
        return all(
            times > 0 and (line in self.taken_out or not line)
            for line, times in self.surplus.items()
        )

    @property
    def has_newer_lines(self) -> bool:
        """Whether the past text lacks a line that both the text and a newer past text have.

        A heading counts only where the text adds nothing else: anybody may type one of the usual
        names.
        """
        if not self._newer or any(not line.startswith("#") for line in self._newer):
            return bool(self._newer)
        return all(
            times > 0 or not line or line in self._newer for line, times in self.surplus.items()
        )

    def below(self, least: tuple[bool, float]) -> tuple[bool, float] | None:
        """Whether it has newer lines, and the distance; `None` where that is not below `least`."""
        if (self.has_newer_lines, 0) >= least:
            return None  # before the distance is counted, which takes long
        found = self.has_newer_lines, self.distance()
        return found if found < least else None

    def distance(self) -> float:
        """The characters of the lines that only one side has, less what counts for nothing."""
        # With more lines, one side has none or the pairs are too many.
        if len(self.surplus) > _MOST_PAIRS + 1:
            return self._characters
        lost: list[str] = []
        added: list[str] = []
        for line, times in self.surplus.items():
            if line:
                lost += [line] * times
                added += [line] * -times
        reworded = 0.0
        if len(lost) * len(added) <= _MOST_PAIRS:
            reworded = sum(self._reworded(lost, line) for line in added)
        counts_for_nothing = sum(len(line) for line in lost if line in self.taken_out)
        return self._characters - reworded - counts_for_nothing

    def _reworded(self, lost: list[str], new: str) -> float:
        """The characters that an added line shares with the lost one it rewords, which goes."""
        old = max(lost, key=lambda line: self._rewording(line, new), default="")
        likeness = self._rewording(old, new) if old else 0.0
        if likeness:
            lost.remove(old)
        return likeness * (len(old) + len(new))

    def _rewording(self, old: str, new: str) -> float:
        """How alike two lines are; 0 where one is no rewording of the other."""
        likeness = self._alike(old, new)
        if likeness >= _REWORDED_AND_MOVED or (likeness >= _REWORDED and self._stays(old, new)):
            return likeness
        return 0.0

    def _stays(self, old: str, new: str) -> bool:
        """Whether an added line stands where a lost one stood: before the same line of both."""
        if self._places is None:
            self._places = self._places_in(self._past), self._places_in(self.text)
        lost, added = self._places
        return lost[old] == added[new]

    def _places_in(self, lines: Sequence[str]) -> dict[str, str]:
        """For each line that differs the next one behind it that does not; empty for none."""
        places: dict[str, str] = {}
        following = ""
        for line in map(str.strip, reversed(lines)):
            if line in self.surplus:
                places[line] = following
            elif line:
                following = line
        return places

    def _alike(self, old: str, new: str) -> float:
        if (old, new) not in self._likeness:
            self._likeness[old, new] = alike(bigrams(old), bigrams(new))
        return self._likeness[old, new]
