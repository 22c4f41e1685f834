"""BM25 as plain libraries have it, over whole messages and over passages of 120 words.

Stop words and stemming for English, jieba in search mode with stop words for Chinese; Lucene's
formula (Robertson and Zaragoza 2009, with 1 added in the logarithm of the IDF).
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import jieba
import Stemmer

PASSAGE_WORDS = 120
_K1, _B = 1.5, 0.75
_ENGLISH = (
    "a an the is are was were be been do does did to of in on at for and or with by from that this "
    "it its as what which who whom whose when where why how has have had i you he she they we me my "
    "your his her their our will would can could should about into not no s t"
)
_CHINESE = (
    "的 了 是 我 你 他 她 它 吗 呢 啊 在 和 有 过 曾经 什么 哪些 哪个 那个 这个 一个 对 给 就 都 也 很 "
    "呀 来着 到底 那 这 我们 你们 还 记得 名字 叫"
)
_STOP = frozenset(f"{_ENGLISH} {_CHINESE}".split())
_stem = Stemmer.Stemmer("english").stemWord
jieba.setLogLevel(logging.CRITICAL)


def words(text: str) -> list[str]:
    """Return the stemmed words of a text without stop words."""
    found = jieba.lcut_for_search(text.lower())
    return [_stem(word) for word in found if re.match(r"\w", word) and word not in _STOP]


def passages(text: str) -> list[str]:
    """Cut a text after every 120 words (English) or about 240 characters without a space."""
    pieces = re.findall(r"\S+\s*", text)
    parts, part, count = [], "", 0.0
    for piece in pieces:
        size = max(1.0, len(re.findall(r"[\u4e00-\u9fff]", piece)) / 2)
        if part and count + size > PASSAGE_WORDS:
            parts.append(part)
            part, count = "", 0.0
        part, count = part + piece, count + size
    return [*parts, part] if part else parts or [""]


class Index:
    """Units of messages; a message scores as its best unit."""

    def __init__(self, messages: Sequence[dict[str, Any]], *, by_passage: bool) -> None:
        self._owners: list[str] = []
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for owner, text in _units(messages, by_passage=by_passage):
            counts = Counter(words(text))
            lengths.append(counts.total())
            for word, count in counts.items():
                self._postings[word].append((len(self._owners), count))
            self._owners.append(owner)
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        self._norms = [_K1 * (1 - _B + _B * length / mean) for length in lengths]

    def search(self, query: str, limit: int = 10) -> list[str]:
        """Return the ids of the best messages, best first."""
        scores: dict[int, float] = defaultdict(float)
        for word in words(query):
            postings = self._postings.get(word, [])
            rest = len(self._owners) - len(postings)
            idf = math.log(1 + (rest + 0.5) / (len(postings) + 0.5))
            for unit, count in postings:
                scores[unit] += idf * count / (count + self._norms[unit])
        best: dict[str, float] = {}
        for unit in sorted(scores, key=lambda unit: (-scores[unit], unit)):
            best.setdefault(self._owners[unit], scores[unit])
            if len(best) == limit:
                break
        return list(best)


def _units(messages: Sequence[dict[str, Any]], *, by_passage: bool) -> Iterator[tuple[str, str]]:
    for message in messages:
        head = f"[{message['ts'][:10]}] {message['name']}: "
        content = message["content"]
        for part in passages(content) if by_passage else [content]:
            yield message["id"], head + part
