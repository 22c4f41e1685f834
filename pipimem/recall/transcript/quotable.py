"""The messages of a transcript that a turn may quote, and the best of them for a question."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.notes.message import Message
from pipimem.recall.phrases import phrases
from pipimem.recall.scoring import Part
from pipimem.recall.transcript.candidates import blocks_between, blocks_to_weigh
from pipimem.recall.transcript.features import Shape
from pipimem.recall.transcript.formula import FORMULA
from pipimem.recall.transcript.question import TranscriptQuery
from pipimem.recall.transcript.rank import weighed
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.patterns import Pattern
from pipimem.text.talk.asking import off_the_record
from pipimem.text.words.index_words import Words

_LOOKED_AT = 20
# A turn has less time than a search: in 100,000 messages this takes half as long.
_EFFORT = 0.3
# So few messages are all weighed.
_FEW = 100
# Between what somebody said and "don't note that" others may speak.
_ASKED_BEFORE, _ASKED_AFTER = 2, 3
# Whoever writes more says something.
_LONGEST_FILLER = 160
_SIGNS = Pattern(r"[\W_]+")

Weighed = tuple[int, Sequence[Part]]
"""The slot of a message and what speaks for it."""


class Quotable:
    """Says whether a slot lies from `first` up to `before`, and is no tool's output."""

    def __init__(self, index: TranscriptIndex, first: int, before: int) -> None:
        self._roles, self.first, self.before = index.roles, first, before
        self._tool = index.role_names.index("tool") if "tool" in index.role_names else -1

    def __call__(self, slot: int) -> bool:
        return self.first <= slot < self.before and self._roles[slot] != self._tool


def best(index: TranscriptIndex, asked: TranscriptQuery, quotable: Quotable) -> Sequence[Weighed]:
    """The messages that may be quoted and say most about what is asked, best first."""
    if quotable.before - quotable.first <= _FEW:
        blocks = blocks_between(quotable.first, quotable.before)
    else:
        blocks = blocks_to_weigh(index, asked, FORMULA, None, _EFFORT)
    found = weighed(index, asked, _LOOKED_AT, FORMULA, blocks, quotable)
    return [pair for pair in found if not is_off_the_record(index, pair[0])]


def is_off_the_record(index: TranscriptIndex, slot: int) -> bool:
    """Whether its speaker asks not to note a message, in it or just after, or the bot answers one.

    A bot that tells it again would tell those it was kept from.
    """
    around = range(max(0, slot - _ASKED_BEFORE), min(len(index), slot + _ASKED_AFTER + 1))
    if not any(index.shapes[near] & Shape.OFF_THE_RECORD for near in around):
        return False
    items = [index.item(near) for near in around]
    messages = [
        Message(
            one.role,  # type: ignore[arg-type]
            one.text,
            id=one.id,
            speaker=one.speaker,
            time=one.when,
        )
        for one in items
    ]
    return index.item(slot).id in off_the_record(messages)


def is_filler(text: str, asked: str, words: Words) -> bool:
    """Whether a message is nothing but acknowledgements and what is `asked`, or a part of that.

    "yes", "no" and a negated sentence answer; so does a statement in the question's own words.
    """
    if len(text) > _LONGEST_FILLER:
        return False
    left = phrases("acknowledging").sub(" ", text.lower())
    if phrases("yes or no").search(left):
        return False
    said = _SIGNS().sub(" ", left).strip()
    if f" {said} " in f" {_SIGNS().sub(' ', asked.lower()).strip()} " or not said:
        return True
    if not text.rstrip().endswith(("?", "？")):
        return False
    again, first = words.bag(left), words.bag(asked)
    return set(again.words) <= set(first.words) and set(again.grams) <= set(first.grams)
