"""Which known text a person's text grew out of: an editor may have loaded it many commits ago."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from pipimem.text.bigrams import alike, bigrams
from pipimem.text.lines import split_lines

# Above this a line is another line reworded, and that is a smaller change than one left out and one added.
_REWORDED = 0.5
# Comparing each lost line with each new one is quadratic; who changed more did not reword one bullet.
_MOST_PAIRS = 400


@dataclass(frozen=True, slots=True)
class Stood:
    """A text that the journal knows for a file; `was_seen` unless it is certain that nobody but us read it there."""

    text: str
    was_seen: bool


def nearest(text: str, known: Iterable[Stood]) -> str:
    """The known text, of `known` with the newest first, from which the fewest changed characters lead to `text`;
    of two the newer.

    An older text word for word is a restore: it grew out of the newest. A text nobody has seen is none, unless
    `text` has a line that only it can have come from. Who has seen nothing wrote out of nothing: the empty text. Who
    left nothing deleted all they had.
    """
    if not text.strip():
        return _emptied(known)
    wanted = _lines(text)
    newer: set[str] = set()
    newest, seen, unseen = "", _Best(), _Best()
    for candidate in known:
        if candidate.text == text:
            return newest
        newest = newest or candidate.text
        lines = _lines(candidate.text)
        found = _Best(candidate.text, _distance(lines, wanted), bool((wanted - lines).keys() & newer))
        unseen = unseen.or_if_nearer(found)
        # Who appends without reading has every line of it, too.
        was_grown = seen.apart == inf and bool(candidate.text.strip()) and not lines - wanted
        seen = seen.or_if_nearer(found) if candidate.was_seen or was_grown else seen
        newer |= {line for line in lines if line and not line.startswith("#")}
    if seen.apart < inf and not seen.is_unlikely:
        return seen.text
    return unseen.text if newer & wanted.keys() else ""


def _emptied(known: Iterable[Stood]) -> str:
    """What somebody had who left nothing: the newest text that was seen, not the shortest, which is the nearest.

    Where nobody is known to have read any, they meant whatever stands there.
    """
    newest = ""
    for candidate in known:
        if candidate.text.strip():
            if candidate.was_seen:
                return candidate.text
            newest = newest or candidate.text
    return newest


@dataclass(frozen=True, slots=True)
class _Best:
    """The nearest text so far; `is_unlikely` where somebody would have typed a line of a newer one by chance."""

    text: str = ""
    apart: float = inf
    is_unlikely: bool = True

    def or_if_nearer(self, other: _Best) -> _Best:
        return other if (other.is_unlikely, other.apart) < (self.is_unlikely, self.apart) else self


def _lines(text: str) -> Counter[str]:
    # Without their ends: an editor that changes all line ends changed no line.
    return Counter(line.strip() for line in split_lines(text))


def _distance(known: Counter[str], text: Counter[str]) -> float:
    gone, came = list((known - text).elements()), list((text - known).elements())
    apart = float(sum(map(len, gone)) + sum(map(len, came)))
    if len(gone) * len(came) <= _MOST_PAIRS:
        apart -= sum(_rewordings(gone, came))
    return apart


def _rewordings(gone: list[str], came: list[str]) -> Iterator[float]:
    """How many characters each reworded line kept, on both sides."""
    pairs = sorted(
        ((alike(bigrams(old), bigrams(new)), old, new) for old in gone for new in came if old and new), reverse=True
    )
    taken: set[str] = set()
    for share, old, new in pairs:
        if share < _REWORDED:
            return
        if old not in taken and new not in taken:
            taken |= {old, new}
            yield share * (len(old) + len(new))
