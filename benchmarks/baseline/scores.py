"""Scores of ranked results and of contexts against gold.

A result is a question's fields with `candidates` (ranked, with `id` or `content`) and, for recall,
`context`. Gold is `gold`, groups of acceptable message ids, or `gold_text`, texts of which one must
be found. A question without gold is one on which memory should be silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.baseline.table import Figure

Result = Mapping[str, Any]
# So many letters in a row are a piece of a message; a shorter message counts as a whole. A Han
# character says as much as three or four letters.
_PIECE, _PIECE_HAN = 40, 12
# The estimate of pipimem's `[snapshot]` and `[recall]` limits, fitted to gpt-4o's tokenizer: cost
# of a piece, of each character beyond the first few, and how many those are.
_TOKENS = (
    (re.compile(r"[^\W\d_\u3400-\u9fff]+"), 0.9, 0.4, 7),
    (re.compile(r"[\u3400-\u9fff]+"), 0.0, 0.75, 0),
    (re.compile(r"[\r\n]+"), 0.7, 0.0, 0),
    (re.compile(r"[!-/:-@\[-`{-~]+"), 0.85, 0.28, 1),
    (re.compile(r"[\u3000-\u303f\uff00-\uffef\u2000-\u206f]"), 0.65, 0.0, 0),
)
_DIGITS, _THREE_DIGITS = re.compile(r"\d{1,3}"), 1.8


def groups_of(result: Result) -> list[list[str]]:
    """Return the gold groups; a flat list of ids is a group each."""
    return [group if isinstance(group, list) else [group] for group in result.get("gold") or []]


def has_gold(result: Result) -> bool:
    """Return whether there is something to find."""
    return bool(result.get("gold") or result.get("gold_text"))


def found(result: Result, most: int) -> float:
    """Return the share of the gold that the first `most` candidates hold."""
    top = result["candidates"][:most]
    if texts := result.get("gold_text"):
        stripped = [text.removeprefix("- ") for text in texts]
        return float(any(text in one.get("content", "") for one in top for text in stripped))
    ids, groups = {one["id"] for one in top}, groups_of(result)
    return sum(any(name in ids for name in group) for group in groups) / len(groups)


def recall_at(results: Iterable[Result], most: int) -> Figure:
    """Return the mean share of gold found among the first `most`."""
    shares = [found(result, most) for result in results if has_gold(result)]
    return Figure(_mean(shares), note=f"{len(shares)} questions")


def reciprocal_rank(results: Iterable[Result]) -> Figure:
    """Return the mean of 1 / rank of the first candidate that is gold, of the first ten."""
    ranks = []
    for result in filter(has_gold, results):
        first = next((most for most in range(1, 11) if found(result, most)), 0)
        ranks.append(1 / first if first else 0.0)
    return Figure(_mean(ranks), note=f"{len(ranks)} questions")


def silent(results: Iterable[Result]) -> Figure:
    """Return the share of questions without gold that got no candidate and no context."""
    none = [result for result in results if not has_gold(result)]
    quiet = sum(not result["candidates"] and not result.get("context") for result in none)
    return Figure.share(quiet, len(none))


def shown(results: Iterable[Result]) -> Figure:
    """Return the share of questions of which a gold text stands in the context."""
    asked = [result for result in results if result.get("gold_text")]
    hits = sum(any(text in one["context"] for text in one["gold_text"]) for one in asked)
    return Figure.share(hits, len(asked))


def evidence(results: Iterable[Result], contents: Mapping[tuple[str, str], str]) -> Figure:
    """Return the mean share of gold groups of which a piece of a message stands in the context.

    `contents` are messages by channel and id.
    """
    shares = []
    for result in filter(has_gold, results):
        context, groups = letters(result["context"]), groups_of(result)
        said = ([contents[result["channel"], name] for name in group] for group in groups)
        there = sum(any(_stands_in(text, context) for text in texts) for texts in said)
        shares.append(there / len(groups))
    return Figure(_mean(shares), note=f"{len(shares)} questions")


def letters(text: str) -> str:
    """Return letters and digits alone: neither signs, escapes nor line breaks count."""
    return re.sub(r"[\W_]+", "", re.sub(r"\\u[0-9a-f]{4}", "", text)).casefold()


def _stands_in(message: str, context: str) -> bool:
    text = letters(message)
    size = _PIECE_HAN if re.search(r"[\u4e00-\u9fff]", text) else _PIECE
    if len(text) <= size:
        return bool(text) and text in context
    return any(text[at : at + size] in context for at in range(len(text) - size + 1))


def tokens(text: str) -> float:
    """Estimate how many tokens a text costs."""
    total = _THREE_DIGITS * len(_DIGITS.findall(text))
    for pattern, whole, each, free in _TOKENS:
        for piece in pattern.findall(text):
            total += whole + each * max(0, len(piece) - free)
    return total


def context_tokens(results: Sequence[Result]) -> Figure:
    """Return the mean tokens of the contexts."""
    return Figure(_mean([tokens(result["context"]) for result in results]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
