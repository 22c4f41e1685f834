"""The regression check: what memory finds today it must find after a tidying, a fold or an expiry, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.memory.expire import is_dated
from pipimem.memory.questions import Question
from pipimem.notes.applied import applied
from pipimem.notes.entry import Entry
from pipimem.notes.history import blocks
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Bullet, Decision, FoldBlocks, Invalidate, Operation, targets_of
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
# Each asks all questions anew. One finds what is lost, one that all is found without what is to blame; a third where
# the operations left work together in an unforeseen way.
_ROUNDS = 4
_TOLD_CHARS = 80
# The answer that a question was asked for; those behind it came along.
_BEST = 1

# A text that was found, and what kind of thing it is.
_Answer = tuple[str, str]


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
    _found: list[tuple[_Answer, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self._gathering = Gathering(Index(self.words))
        self._gathering.update(self.notes)
        self._found = [self._answer(question)[: self.limits.inject] for question in self.questions]

    def held(self, decision: Decision) -> Decision:
        """The decision without the operations that would lose an answer, and with the reason for each of them."""
        kept = tuple(
            op for op in decision.operations if not (isinstance(op, Invalidate) and is_dated(op))
        )
        dated = tuple(op for op in decision.operations if op not in kept)
        reasons: list[str] = []
        everything = range(len(self.questions))
        for _ in range(_ROUNDS):
            lost = self._lost(decision, kept, everything) if kept and any(self._found) else ()
            if not lost:
                break
            blamed = self._touching(kept, lost) or self._halved(decision, kept, lost)
            kept = tuple(
                each for op in kept for each in self._instead(op, blamed.get(id(op)), reasons)
            )
        else:
            reasons.append(
                f"{len(kept)} more left undone: what loses an answer was not to be found among them"
            )
            kept = ()
        if not reasons:
            return decision
        return replace(decision, operations=(*dated, *kept), notes=(*decision.notes, *reasons))

    def _lost(
        self, decision: Decision, operations: tuple[Operation, ...], asked: Iterable[int]
    ) -> tuple[Lost, ...]:
        """What these operations of a decision would lose, of the answers to the questions with these places."""
        outcome = applied(self.notes, replace(decision, operations=operations), self.now)
        self._gathering.update(self.notes.after(outcome))
        standing = frozenset((item.text, item.kind) for _, item in self._gathering.index.slots())
        # A fold gives a bullet another date and title: where its words stand, nobody lost anything.
        best = 0 if any(isinstance(op, FoldBlocks) for op in operations) else _BEST
        lost = (self._losses(self.questions[n], self._found[n], standing, best) for n in asked)
        return tuple(one for some in lost for one in some)

    def _touching(self, kept: tuple[Operation, ...], lost: tuple[Lost, ...]) -> dict[int, Lost]:
        """By operation, what it loses, where it is about a lost text itself."""
        blamed: dict[int, Lost] = {}
        for op in kept:
            texts = [entry.text for entry in self._entries(op)]
            for one in lost:
                if one.text in texts or (one.question.words and _holds(texts, one.text)):
                    blamed.setdefault(id(op), one)
        return blamed

    def _halved(
        self, decision: Decision, kept: tuple[Operation, ...], lost: tuple[Lost, ...]
    ) -> dict[int, Lost]:
        """The same for one that loses a text of others, by pushing it out: found by halving, from the front."""
        asked = sorted({self.questions.index(one.question) for one in lost})
        low, high = 0, len(kept)  # the first `low` lose nothing, the first `high` do
        while high - low > 1:
            middle = (low + high) // 2
            if self._lost(decision, kept[:middle], asked):
                high = middle
            else:
                low = middle
        return {id(kept[high - 1]): lost[0]}

    def _instead(
        self, op: Operation, lost: Lost | None, reasons: list[str]
    ) -> tuple[Operation, ...]:
        """What is done in the place of an operation that loses an answer."""
        if lost is None:
            return (op,)
        if isinstance(op, FoldBlocks) and len((mended := self._mended(op)).bullets) > len(
            op.bullets
        ):
            count = len(mended.bullets) - len(op.bullets)
            reasons.append(
                f"fold of {op.month}: {count} bullets stay word for word, {_asked(lost)}"
            )
            return (mended,)
        reasons.append(f"{_told(self._entries(op), op)}: left as it is, {_asked(lost)}")
        return ()

    def _entries(self, op: Operation) -> list[Entry]:
        """The entries an operation is about."""
        if isinstance(op, FoldBlocks):
            folded = [block for block in blocks(self.notes.history) if block.heading in op.headings]
            return [entry for block in folded for entry in block.bullets]
        return [entry for target in targets_of(op) if (entry := self.notes.find(target))]

    def _mended(self, op: FoldBlocks) -> FoldBlocks:
        """The fold with all that questions find in its blocks, word for word."""
        wanted = frozenset(text for answers in self._found for text, _ in answers)
        told = {bullet.text for bullet in op.bullets}
        kept = [
            entry for entry in self._entries(op) if entry.text in wanted and entry.text not in told
        ]
        return replace(
            op, bullets=(*op.bullets, *(Bullet(entry.text, (entry.id,)) for entry in kept))
        )

    def _answer(self, question: Question) -> tuple[_Answer, ...]:
        index = self._gathering.index
        found = recall(
            index, question.text, now=self.now, limits=self.limits, synonyms=self.synonyms
        )
        return tuple((one.item.text, one.item.kind) for one in found.candidates)

    def _losses(
        self, question: Question, answers: tuple[_Answer, ...], standing: Set[_Answer], best: int
    ) -> Iterator[Lost]:
        """What an answer lost.

        In another memory words are rarer or commoner: what was found by a hair may not be, though it stands there word
        for word, as the same kind of thing. That is a loss only of the `best` answers, or where people say so.
        """
        new = tuple(text for text, _ in self._answer(question)) if answers else ()
        old = tuple(text for text, _ in answers)
        if question.words:
            for word in question.words:
                if _holds(old, word) and not _holds(new, word):
                    yield Lost(question, word)
            return
        for rank, (text, kind) in enumerate(answers):
            by_a_hair = rank >= best and not question.is_must and (text, kind) in standing
            if text not in new and not by_a_hair and not self._is_kept(text, new):
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
    return (
        f"recall.must asks {lost.question.text!r}"
        if lost.question.is_must
        else "a recent question finds it"
    )


def _told(entries: Sequence[Entry], op: Operation) -> str:
    """An operation in the words of what it is about."""
    if isinstance(op, FoldBlocks):
        return f"fold of {op.month}"
    text = redacted(white_folded(entries[0].text)) if entries else ""
    return f"{type(op).__name__.lower()} {text[:_TOLD_CHARS]!r}"
