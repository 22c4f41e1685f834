"""Whether a text says how a bot or others are to behave, or who may decide: a linear classifier.

Its features are words, and pairs of words beside each other or with one between them, in Chinese
characters and their pairs; links, numbers, names and words for the bot count as what they are.
`python -m benchmarks.poison.weights` fits the weights, `data/injection/directive_weights.txt`, and
tells how far they hold on unseen text.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from pipimem import resources
from pipimem.text.han import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.plain_readings import plain

_TOKEN = Pattern(
    r"(?P<link>https?://\S+|[\w.+-]+@[\w-]+\.\w+|(?<![\w.])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b)"
    r"|(?P<number>\d[\d.,:]*)"
    r"|(?P<bot>\b(?:(?:chat)?bots?|assistants?|ai)\b|机器人|助手)"
    r"|(?P<name>(?<=[\w,;]\s)(?!I\b)(?-i:[A-Z])[\w'’]*)"
    r"|(?P<word>[A-Za-z]+(?:['’][a-z]+)?)"
    rf"|(?P<han>[{HAN}])"
    r"|(?P<sign>[^\w\s])",
    re.IGNORECASE,
)
# Where a text begins and ends, and what stands in for a link, a number, a name and the bot.
_EDGE, _STANDS_FOR = "<>", ("link", "number", "bot", "name")
_ENDS = frozenset(".!?。！？；")
BIAS = "bias"
# What may be a wish has a score above 0, what likely is one this: one in a hundred ordinary lines
# that look like wishes has it. It is asked where many texts are judged, or more is at stake.
LIKELY = 0.5


def directs_conduct(text: str) -> bool:
    """Whether a text may say how a bot or others are to behave, or who may decide."""
    return directive_score(text) > 0


def features(text: str) -> frozenset[str]:
    """The tokens of a text in plain characters, each two in a row, and each two around another."""
    tokens = [_EDGE, *_tokens(plain(text)), _EDGE]
    pairs = (f"{first} {second}" for first, second in itertools.pairwise(tokens))
    around = (f"{first} _ {second}" for first, second in zip(tokens, tokens[2:], strict=False))
    return frozenset((*tokens[1:-1], *pairs, *around))


@lru_cache(maxsize=1024)  # a sentence is judged as it was said, and as an entry
def directive_score(text: str) -> float:
    """The sum of the weights of a text's features by the root of their number, and the bias."""
    weights = _weights()
    found = [weights[one] for one in features(text) if one in weights]
    return weights[BIAS] + sum(found) / math.sqrt(max(1, len(found)))


def _tokens(text: str) -> Iterator[str]:
    for found in _TOKEN().finditer(text):
        kind = found.lastgroup or ""
        token = f"<{kind}>" if kind in _STANDS_FOR else found[0].casefold().replace("’", "'")
        yield _EDGE if token in _ENDS else token


@cache
def _weights() -> dict[str, float]:
    found: dict[str, float] = {}
    for line in resources.sections("injection/directive_weights")[""]:
        weight, _, feature = line.partition(" ")
        found[feature] = float(weight)
    return found
