"""Whether a sentence may bind others or a bot, by the classes of the everyday words in it.

Words by class are `data/injection/directive_words.txt`, the classes that count together
`directive_shapes.txt`. It finds wishes in shapes that no pattern knows, and ordinary rules of a
team as well: reason enough to keep a sentence as somebody's words, none to refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pipimem import resources
from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.plain_readings import plain

# A word in Latin letters, a Chinese character, or a sign, over which no phrase goes.
_UNITS = Pattern(rf"[a-z]+(?:'[a-z]+)?|[{HAN}]|[^\w\s]")
_LINK = Pattern(r"://|\w@\w|\w\.(?:com|net|org|example|cn|io)\b")
# Of shorter ones the s is no ending: "is", "his".
_LEAST_WITH_S = 4

_Units = tuple[str, ...]


def is_directive(sentence: str) -> bool:
    """Whether classes of words stand in a sentence that bind others or the bot together."""
    shapes, unless = _shapes()
    found = _classes(plain(sentence).casefold())
    return unless.isdisjoint(found) and any(shape <= found for shape in shapes)


def _classes(text: str) -> set[str]:
    """The classes of the words of a text in small letters, and of what is no word."""
    units = _UNITS().findall(text.replace("’", "'"))
    found = {name for phrase in _phrases(units) for name in _words()[phrase]}
    if _LINK().search(text):
        found.add("link")
    if text.endswith("?"):
        found.add("question")
    return found


def _phrases(units: Sequence[str]) -> Iterator[_Units]:
    """The phrases of the lexicon in a text, from its beginning, of several the longest."""
    at = 0
    while at < len(units):
        phrase = _phrase_at(units, at)
        if phrase:
            yield phrase
        at += max(1, len(phrase))


def _phrase_at(units: Sequence[str], at: int) -> _Units:
    words = _words()
    for end in range(min(len(units), at + _most_units()), at, -1):
        phrase = tuple(units[at:end])
        if phrase in words:
            return phrase
    singular = (units[at].removesuffix("s").removesuffix("'"),)
    return singular if len(units[at]) >= _LEAST_WITH_S and singular in words else ()


@cache
def _words() -> Mapping[_Units, frozenset[str]]:
    """The classes of each phrase, which is in units."""
    found: dict[_Units, set[str]] = {}
    for name, lines in resources.sections("injection/directive_words").items():
        for phrase in ",".join(lines).split(","):
            found.setdefault(tuple(_UNITS().findall(phrase)), set()).add(name)
    return {phrase: frozenset(names) for phrase, names in found.items() if phrase}


@cache
def _most_units() -> int:
    return max(map(len, _words()))


@cache
def _shapes() -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    """The classes of each shape, and those with which no sentence has one."""
    lines = resources.sections("injection/directive_shapes")
    shapes = tuple(frozenset(line.split(" + ")) for line in lines["shapes"])
    return shapes, frozenset(lines["unless"])
