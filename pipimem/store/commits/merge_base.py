"""The past text that a person's text was made of: an editor may have loaded it long ago."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipimem.text.lines import split_lines
from pipimem.text.shared_ends import shared_ends
from pipimem.text.similarity import alike, bigrams

# Above this a line is another one reworded: a smaller change than one left out and one added.
_REWORDED = 0.5
# Comparing each lost line with each new one is quadratic; who changed more reworded no bullet.
_MOST_PAIRS = 400


def merge_base(text: str, past: Iterable[Sequence[str]]) -> str:
    """Returns the past text that is the fewest changed characters from `text`; of two the newer.

    `past` are the texts that stood in the file, as lines, newest first; without any it is "". Where
    `text` has a line that a newer past text has and an older one lacks, the older one is not
    chosen: nobody types such a line by chance. Three more rules: an empty text was made of the
    newest that is not empty, an older text word for word is a restore, so it was made of the
    newest, and nothing was made of an older empty text: it would be near to whatever is short.
    """
    if not text.strip():
        return next(("".join(lines) for lines in past if not _is_blank(lines)), "")
    wanted = split_lines(text)
    difference = _Difference()
    difference.count(wanted, -1)
    newest: Sequence[str] | None = None
    best: Sequence[str] = ()
    least = (True, float("inf"))
    previous: Sequence[str] = ()
    for candidate in past:
        if newest is None:
            newest = candidate
        elif _is_blank(candidate):
            continue
        # Neighbours differ in few lines, and only those are counted: texts may have thousands.
        head, tail = shared_ends(previous, candidate)
        difference.count(previous[head : len(previous) - tail], -1)
        difference.count(candidate[head : len(candidate) - tail], 1)
        if not difference.surplus and tuple(candidate) == wanted:
            return "".join(newest)
        is_unlikely = bool(difference.newer_lines)
        if (is_unlikely, 0) < least:
            distance = difference.distance()
            if (is_unlikely, distance) < least:
                best, least = candidate, (is_unlikely, distance)
        previous = candidate
    return "".join(best)


def _is_blank(lines: Iterable[str]) -> bool:
    return not any(map(str.strip, lines))


@dataclass(slots=True)
class _Difference:
    """How the text looked for and a past one differ, kept up from one past text to the next.

    `surplus` is by line, white space at its ends aside, how often the past text has it more; never
    0. `newer_lines` are those that the text looked for has more and a newer past text had.
    """

    surplus: dict[str, int] = field(default_factory=dict)
    newer_lines: set[str] = field(default_factory=set)
    _characters: int = 0
    _seen: set[str] = field(default_factory=set)
    _likeness: dict[tuple[str, str], float] = field(default_factory=dict)

    def count(self, lines: Iterable[str], times: int) -> None:
        """Adds `times` for each line: 1 where the past text has it, -1 where it has it no more."""
        for line in map(str.strip, lines):
            before = self.surplus.pop(line, 0)
            after = before + times
            self._characters += (abs(after) - abs(before)) * len(line)
            if after:
                self.surplus[line] = after
            if times > 0 and line and not line.startswith("#"):
                self._seen.add(line)
            if after < 0 and line in self._seen:
                self.newer_lines.add(line)
            else:
                self.newer_lines.discard(line)

    def distance(self) -> float:
        """The characters of the lines that only one side has, less what reworded lines kept."""
        # With more lines, one side has none or the pairs are too many.
        if len(self.surplus) > _MOST_PAIRS + 1:
            return self._characters
        gone = [line for line, times in self.surplus.items() if line for _ in range(times)]
        came = [line for line, times in self.surplus.items() if line for _ in range(-times)]
        if len(gone) * len(came) > _MOST_PAIRS:
            return self._characters
        kept = 0.0
        for new in came:
            old = max(gone, key=lambda line: self._alike(line, new), default="")
            if old and self._alike(old, new) >= _REWORDED:
                gone.remove(old)
                kept += self._alike(old, new) * (len(old) + len(new))
        return self._characters - kept

    def _alike(self, old: str, new: str) -> float:
        if (old, new) not in self._likeness:
            self._likeness[old, new] = alike(bigrams(old), bigrams(new))
        return self._likeness[old, new]
