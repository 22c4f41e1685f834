"""The regression check: what memory finds today it must find after a tidying, a fold or an expiry, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.memory.expire import is_dated
from pipimem.memory.questions import Question
from pipimem.notes.applied import applied
from pipimem.notes.history import blocks
from pipimem.notes.notes import Note, Notes
from pipimem.notes.operations import Bullet, Decision, FoldBlocks, Invalidate, Operation
from pipimem.recall.budgeting import Limits
from pipimem.recall.gathering import Gathering
from pipimem.recall.index import Index
from pipimem.recall.recalling import recall
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.text.secrets import redacted
from pipimem.text.whitespace import white_folded
from pipimem.text.words import Words

# A merge may say it shorter; what keeps less of the words than this says something else.
_KEPT = 0.7
# Each is a run of all questions. Halving 48 operations with three bad ones among them takes about 30.
_TRIALS = 40
_TOLD_CHARS = 80


@dataclass(frozen=True, slots=True)
class Lost:
    """A question that found a text, or words, and would not any more."""

    question: Question
    text: str


@dataclass(slots=True)
class Check:
    """Old and new memory asked the same questions, by recall itself; no model, no disk.

    `found` is what the old one answers; the index is brought from state to state by difference.
    """

    notes: Notes
    now: datetime
    questions: Sequence[Question]
    words: Words
    synonyms: Synonyms = NO_SYNONYMS
    limits: Limits = field(default_factory=Limits)
    _gathering: Gathering = field(init=False)
    _found: list[tuple[str, ...]] = field(init=False)
    _trials: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._gathering = Gathering(Index(self.words))
        self._found = [texts[: self.limits.inject] for texts in self._answers(self.notes)]

    def held(self, decision: Decision) -> Decision:
        """The decision without the operations that would lose an answer, and with the reason for each of them."""
        checkable = [op for op in decision.operations if not (isinstance(op, Invalidate) and is_dated(op))]
        if not checkable or not any(self._found):
            return decision
        self._trials = 0
        kept, reasons = self._harmless(decision, (), tuple(checkable))
        if not reasons:
            return decision
        dated = tuple(op for op in decision.operations if op not in checkable)
        return replace(decision, operations=(*dated, *kept), notes=(*decision.notes, *reasons))

    def lost(self, decision: Decision, operations: tuple[Operation, ...]) -> tuple[Lost, ...]:
        """What these operations of a decision would lose."""
        outcome = applied(self.notes, replace(decision, operations=operations), self.now)
        notes = self.notes
        for file, text in outcome.texts.items():
            notes = notes.having(Note.read(file, text, notes.key))
        notes = replace(notes, ledger=notes.ledger.after(outcome.delta))
        answers = zip(self.questions, self._found, self._answers(notes), strict=True)
        return tuple(lost for question, old, new in answers for lost in self._losses(question, old, new))

    def _harmless(
        self, decision: Decision, kept: tuple[Operation, ...], fresh: tuple[Operation, ...]
    ) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
        """As many of `fresh` as go with `kept`, found by halving; and why the others do not."""
        if self._trials >= _TRIALS:
            return kept, (f"{len(fresh)} left undone: too many to look for the one that loses an answer",)
        self._trials += 1
        lost = self.lost(decision, (*kept, *fresh))
        if not lost:
            return (*kept, *fresh), ()
        if len(fresh) > 1:
            middle = len(fresh) // 2
            kept, first = self._harmless(decision, kept, fresh[:middle])
            kept, second = self._harmless(decision, kept, fresh[middle:])
            return kept, (*first, *second)
        [op] = fresh
        if isinstance(op, FoldBlocks):
            mended = self._mended(op, lost)
            if len(mended.bullets) > len(op.bullets) and not self.lost(decision, (*kept, mended)):
                count = len(mended.bullets) - len(op.bullets)
                return (*kept, mended), (f"{op.month}: {count} bullets stay word for word, {_asked(lost[0])}",)
        return kept, (f"{_told(self.notes, op)}: left as it is, {_asked(lost[0])}",)

    def _mended(self, op: FoldBlocks, lost: Iterable[Lost]) -> FoldBlocks:
        """The fold with what questions found in its blocks, word for word."""
        wanted = {one.text for one in lost}
        standing = [block for block in blocks(self.notes.history) if block.heading in op.headings]
        bullets = [entry for block in standing for entry in block.bullets if entry.text in wanted]
        return replace(op, bullets=(*op.bullets, *(Bullet(entry.text, (entry.id,)) for entry in bullets)))

    def _answers(self, notes: Notes) -> Iterator[tuple[str, ...]]:
        self._gathering.update(notes)
        for question in self.questions:
            found = recall(
                self._gathering.index, question.text, now=self.now, limits=self.limits, synonyms=self.synonyms
            )
            yield tuple(one.item.text for one in found.candidates)

    def _losses(self, question: Question, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Lost]:
        if old == new[: len(old)]:
            return
        if question.words:
            for word in question.words:
                if _holds(old, word) and not _holds(new, word):
                    yield Lost(question, word)
            return
        standing = frozenset(new)
        for text in old:
            if text not in standing and not self._is_kept(text, new):
                yield Lost(question, text)

    def _is_kept(self, text: str, new: Iterable[str]) -> bool:
        """Whether one of the new texts has most of its words, and all of its figures."""
        words = frozenset(self.words.words(text))
        figures = frozenset(word for word in words if any(letter.isdigit() for letter in word))
        for other in new:
            shared = words.intersection(self.words.words(other))
            if figures <= shared and len(shared) >= _KEPT * len(words):
                return True
        return False


def _holds(texts: Iterable[str], word: str) -> bool:
    return any(white_folded(word).casefold() in white_folded(text).casefold() for text in texts)


def _asked(lost: Lost) -> str:
    # The words of a recent question stay out of the journal: they may quote what is forgotten one day.
    return f"recall.must asks {lost.question.text!r}" if lost.question.is_must else "a recent question finds it"


def _told(notes: Notes, op: Operation) -> str:
    """An operation in the words of what it is about."""
    match op:
        case FoldBlocks(month=month):
            return f"fold of {month}"
        case _:
            target = getattr(op, "target", None) or next(iter(getattr(op, "targets", ())), None)
            entry = notes.find(target) if target else None
            text = white_folded(entry.text) if entry else ""
            return f"{type(op).__name__.lower()} {redacted(text)[:_TOLD_CHARS]!r}"
