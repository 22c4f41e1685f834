"""Words that mean the same anywhere, in English and Chinese: the groups of `data/synonyms/`, looked
up word by word.

People write groups into `data/synonyms/*.txt`: words and phrases divided by commas, common meanings
only, one group a line. A word may stand in several groups; of two words only those that share a
line stand in for each other. A line with a colon is a kind and what is of that kind: the left finds
the right, not the other way round.

What is looked up is made of those texts beforehand (`compiled`), as the words of the index, so that
a start neither stems nor parses ten thousand words: for the wheel by `hatch_build.py`, in a
checkout once, into its `.cache/`. It is JSON of strings, which are taken apart when they are asked
for:

    groups: ["<tenths of share> <word or phrase>,<word or phrase>, …", …]
    phrases: {"<first word>": "<rest of a phrase>:<places of its groups>TAB<another rest>: …", …}

"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pipimem import resources
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

Phrase = tuple[str, ...]
# A phrase, and what may stand in for it, each with its share: a word, or words with spaces.
Instead = tuple[Phrase, tuple[tuple[str, float], ...]]

# Ours know nothing of the workspace: less than those its people wrote down.
_SAME = 6
# A dog is a pet, but not every pet: less than a word of the same meaning.
_KIND = 4
# Words of any talk ("get", "good"): alone no evidence, however rare in a memory.
_BROAD = 3
_BROAD_MARK = "~ "
# A question has a dozen words; a process that answers for weeks meets a vocabulary.
_CACHED = 5_000


class Thesaurus:
    """The compiled groups, put together a word at a time."""

    def __init__(self, text: str) -> None:
        """`text` is what `compiled` made."""
        read = json.loads(text)
        self._groups: list[str] = read["groups"]
        self._phrases: dict[str, str] = read["phrases"]
        self.begun_by = lru_cache(_CACHED)(self._phrases_from)

    def _phrases_from(self, word: str) -> tuple[Instead, ...]:
        """The phrases that begin with a word of the index, most often it alone."""
        found: list[Instead] = []
        for phrase in self._phrases.get(word, "").split("\t"):
            rest, _, places = phrase.partition(":")
            if places:
                found.append(self._instead((word, *rest.split()), places))
        return tuple(found)

    def _instead(self, phrase: Phrase, places: str) -> Instead:
        others: dict[str, float] = {}
        own = " ".join(phrase)
        for place in places.split(" "):
            tenths, _, members = self._groups[int(place)].partition(" ")
            for member in members.split(","):
                if member != own:
                    others[member] = max(int(tenths) / 10, others.get(member, 0.0))
        return phrase, tuple(others.items())


def common_thesaurus() -> Thesaurus:
    """The thesaurus that travels with pipimem."""
    return Thesaurus(resources.thesaurus(lambda texts: compiled(texts, Words(Segmenter()))))


def compiled(texts: Iterable[str], words: Words) -> str:
    """What `Thesaurus` reads, from the texts that people write; its phrases are index words."""
    groups: list[str] = []
    places: dict[Phrase, list[str]] = {}
    for line in _lines(texts):
        left, kind, right = line.removeprefix(_BROAD_MARK).partition(": ")
        asked = _phrases(left, words)
        found = _phrases(right, words) if kind else asked
        for phrase in asked:
            if set(found) - {phrase}:
                places.setdefault(phrase, []).append(str(len(groups)))
        tenths = _KIND if kind else _SAME
        if line.startswith(_BROAD_MARK):
            tenths = _BROAD
        groups.append(f"{tenths} {','.join(map(' '.join, found))}")
    phrases: dict[str, list[str]] = {}
    for first, *rest in sorted(places):
        phrases.setdefault(first, []).append(f"{' '.join(rest)}:{' '.join(places[first, *rest])}")
    by_first = {first: "\t".join(rests) for first, rests in phrases.items()}
    made = {"groups": groups, "phrases": by_first}
    return json.dumps(made, ensure_ascii=False, separators=(",", ":"))


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for line in text.splitlines():
            if line and not line.startswith("#"):
                yield line


def _phrases(written: str, words: Words) -> Sequence[Phrase]:
    """The phrases of a line as words of the index, each once."""
    phrases = dict.fromkeys(words.phrase(part.strip()) for part in written.split(","))
    return tuple(phrase for phrase in phrases if phrase)
