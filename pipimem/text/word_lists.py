"""Word lists and patterns under `pipimem/data/`, each read on first use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from msgspec import Struct

from pipimem import resources
from pipimem.text.patterns import Pattern


# each is itself alone: hashing is then cheap
class HintedPattern(Struct, frozen=True, eq=False):
    """A pattern of a kind; to be tried only on texts that hold one of its hints (lower case)."""

    kind: str
    hints: tuple[str, ...]
    pattern: Pattern


@cache  # the files do not change while the package runs
def hinted(name: str, around: str = "{}") -> tuple[HintedPattern, ...]:
    """The lines of `data/<name>.txt`, like `ghp_ gho_  =>  gh[po]_.+`; their heading is the kind.

    In `around`, which is for all patterns of the file, `{}` stands for the pattern. Lines that
    begin with `✓` or `✗` are examples.
    """
    found: list[HintedPattern] = []
    for kind, lines in resources.sections(name).items():
        for line in lines:
            if line.startswith(("✓ ", "✗ ")):
                continue
            hints, _, source = line.partition("  =>  ")
            pattern = Pattern(around.replace("{}", source, 1))
            found.append(HintedPattern(kind, tuple(hints.split()), pattern))
    return tuple(found)


@cache
def stop_words() -> frozenset[str]:
    """The words that carry grammar and no matter, in lower case: they are never evidence."""
    return frozenset(_items("stop_words"))


@cache
def negations() -> frozenset[str]:
    """Words that turn a sentence round.

    Two texts that differ in one of them do not say the same.
    """
    return frozenset(_items("negations"))


@cache
def deny_nothing() -> tuple[str, ...]:
    """Chinese words with a character that denies elsewhere, such as 非常 and 特别."""
    return resources.sections("words/negations")["deny nothing"]


@cache
def compounds() -> Mapping[str, str]:
    """English compounds by their two parts: "set up" → "setup"."""
    return {parts: parts.replace(" ", "") for parts in _items("compounds")}


@cache
def single_characters() -> frozenset[str]:
    """The Chinese words of one character that name a thing."""
    return frozenset(_items("single_characters"))


@cache
def forms(name: str) -> Mapping[str, str]:
    """Each form of a word → the first of its line, in a file of lines like `begin: began begun`."""
    found: dict[str, str] = {}
    for line in _items(name):
        words = line.replace(":", "").split()
        found.update(dict.fromkeys(words, words[0]))
    return found


@cache
def keep_their_s() -> frozenset[str]:
    """The beginnings of English words whose "-ise" is no "-ize"."""
    return frozenset(_items("ise_not_ize"))


@cache
def by_first_character() -> Mapping[str, tuple[str, ...]]:
    """Chinese words younger than the dictionary, by the character they begin with."""
    found: dict[str, tuple[str, ...]] = {}
    for word in _items("domain_words"):
        found[word[0]] = (*found.get(word[0], ()), word)
    return found


@cache
def simplified_characters() -> Mapping[str, str]:
    """Each traditional character with its simplified one."""
    return {pair[0]: pair[-1] for pair in _items("traditional")}


def simplified(text: str) -> str:
    """The text with each traditional character as its simplified one.

    資料庫 and 资料库 are one word.
    """
    characters = simplified_characters()
    # Most texts have none, and a look takes a tenth of making a new text.
    if characters.keys().isdisjoint(text):
        return text
    return "".join(characters.get(character, character) for character in text)


def _items(name: str) -> tuple[str, ...]:
    return resources.sections(f"words/{name}")[""]
