"""Words that mean the same anywhere, in English and Chinese: the groups of `thesaurus/`, looked up word by word.

People write groups into `thesaurus/*.txt`: words and phrases divided by commas, common meanings only, one group a line.
A word may stand in several groups; of two words only those that share a line stand in for each other. A line with a colon
is a kind and what is of that kind: the left finds the right, not the other way round.

What is looked up is made of those texts beforehand (`compiled`), as the words of the index, so that a start neither
stems nor parses ten thousand words: for the wheel by `hatch_build.py`, from a checkout once, into the user's cache.

    <tenths of share> <word or phrase>,<word or phrase>, …            one group a line, counted from 0
    <empty line>
    <word> TAB <numbers of its groups> TAB <rest of a phrase>:<numbers> TAB …      by first character, in blocks
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipimem import assets
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

Phrase = tuple[str, ...]

# Ours know nothing of the workspace: less than those its people wrote down.
_SAME = 6
# A dog is a pet, but not every pet: less than a word of the same meaning.
_KIND = 4
# Words of any talk ("get", "good"): alone no evidence, however rare in a memory.
_BROAD = 3
_BROAD_MARK = "~ "
# A question has a dozen words; a process that answers for weeks meets a vocabulary.
_REMEMBERED = 5_000


class Instead(NamedTuple):
    """What may stand in for a phrase, each with its share; a phrase is its words with a space between."""

    phrase: Phrase
    others: tuple[tuple[str, float], ...]


class Thesaurus:
    """The compiled groups, opened a word at a time."""

    def __init__(self, text: str) -> None:
        """`text` is what `compiled` made."""
        head, *blocks = text.split("\n\n")
        self._groups = head.split("\n")
        self._blocks = {block[0]: f"\n{block}\n" for block in blocks if block}
        self._met: dict[str, tuple[Instead, ...]] = {}

    def begun_by(self, word: str) -> tuple[Instead, ...]:
        """The phrases that begin with a word of the index, most often it alone."""
        found = self._met.get(word)
        if found is None:
            if len(self._met) >= _REMEMBERED:
                self._met.clear()
            found = self._met[word] = tuple(self._looked_up(word))
        return found

    def _looked_up(self, word: str) -> Iterator[Instead]:
        block = self._blocks.get(word[:1], "")
        start = block.find(f"\n{word}\t") + 1
        if not start:
            return
        _, alone, *phrases = block[start : block.index("\n", start)].split("\t")
        if alone:
            yield self._instead((word,), alone)
        for phrase in phrases:
            rest, _, numbers = phrase.partition(":")
            yield self._instead((word, *rest.split(" ")), numbers)

    def _instead(self, phrase: Phrase, numbers: str) -> Instead:
        others: dict[str, float] = {}
        own = " ".join(phrase)
        for number in numbers.split(" "):
            tenths, _, members = self._groups[int(number)].partition(" ")
            share = int(tenths) / 10
            for member in members.split(","):
                if member != own:
                    others[member] = max(share, others.get(member, 0.0))
        return Instead(phrase, tuple(others.items()))


def common_thesaurus() -> Thesaurus:
    """The thesaurus that travels with pipimem."""
    return Thesaurus(assets.thesaurus(lambda texts: compiled(texts, Words(Segmenter()))))


def compiled(texts: Iterable[str], words: Words) -> str:
    """What `Thesaurus` reads, from the texts that people write; every phrase as the words of the index."""
    groups: list[str] = []
    keys: dict[Phrase, list[int]] = {}
    for line in (line for text in texts for line in text.splitlines() if line and not line.startswith("#")):
        left, kind, right = line.removeprefix(_BROAD_MARK).partition(": ")
        asked = _phrases(left, words)
        found = _phrases(right, words) if kind else asked
        for phrase in asked:
            if any(other != phrase for other in found):
                keys.setdefault(phrase, []).append(len(groups))
        tenths = _BROAD if line.startswith(_BROAD_MARK) else _KIND if kind else _SAME
        groups.append(f"{tenths} {','.join(map(' '.join, found))}")
    return "\n\n".join(["\n".join(groups), *_blocks(keys)]) + "\n"


def _blocks(keys: dict[Phrase, list[int]]) -> Iterator[str]:
    by_word: dict[str, dict[str, str]] = {}
    for phrase in sorted(keys):
        by_word.setdefault(phrase[0], {})[" ".join(phrase[1:])] = " ".join(map(str, keys[phrase]))
    by_character: dict[str, list[str]] = {}
    for word, rests in by_word.items():
        longer = [f"{rest}:{numbers}" for rest, numbers in rests.items() if rest]
        by_character.setdefault(word[0], []).append("\t".join([word, rests.get("", ""), *longer]))
    return ("\n".join(lines) for lines in by_character.values())


def _phrases(written: str, words: Words) -> Sequence[Phrase]:
    """The phrases of a line as words of the index, each once."""
    return tuple(dict.fromkeys(phrase for part in written.split(",") if (phrase := words.phrase(part.strip()))))
