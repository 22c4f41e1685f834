"""The regression check: what memory finds it must find after a tidying, fold or expiry, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from pipimem.memory.expire import is_dated
from pipimem.notes.apply import applied
from pipimem.notes.entry import Entry
from pipimem.notes.ledger import Asked
from pipimem.notes.notes import Notes, blocks
from pipimem.notes.operations import Bullet, Decision, FoldBlocks, Invalidate, Operation
from pipimem.recall.budget import Limits
from pipimem.recall.index import Index, IndexSync
from pipimem.recall.recall import recall
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.text.markdown.lines import white_folded
from pipimem.text.secrets import redacted
from pipimem.text.words.index_words import Words
from pipimem.text.words.similarity import says_the_same

# A list by hand; beyond this it is a file of another kind that got this name.
_MOST_MUSTS = 500
_ARROW = "=>"
# A merge may say it shorter; what keeps less of the words than this says something else.
_KEPT = 0.7
_NAMED_CHARS = 80
# The answer that a question was asked for; those behind it came along.
_BEST = 1

# A text that was found, and what kind of thing it is.
_Answer = tuple[str, str]


class RecallCase(Struct, frozen=True):
    """A query, and the words that must stand in what is found; without words, all that is found."""

    text: str
    words: tuple[str, ...] = ()
    is_must: bool = False


def recall_cases(asked: Iterable[Asked], must: str) -> tuple[RecallCase, ...]:
    """The lines of `recall.must`, then what was asked, newest first."""
    recent = [RecallCase(one.text) for one in asked]
    return (*_musts(must), *reversed(recent))


def _musts(text: str) -> Iterator[RecallCase]:
    """One query a line, with `=> words, more words` behind it or not; `#` begins a comment."""
    lines = [line.strip() for line in text.removeprefix("\ufeff").splitlines()]
    asked = [line for line in lines if line and not line.startswith("#")]
    for line in asked[:_MOST_MUSTS]:
        query, _, listed = line.partition(_ARROW)
        words = [word.strip() for word in listed.replace("，", ",").split(",")]
        if query.strip():
            yield RecallCase(query.strip(), tuple(filter(None, words)), is_must=True)


@dataclass(slots=True)
class RegressionCheck:
    """Old and new memory asked the same questions, by recall itself; no model, no disk.

    The index is brought from one state of the notes to the next by difference.
    """

    notes: Notes
    now: datetime
    cases: Sequence[RecallCase]
    words: Words
    synonyms: Synonyms = NO_SYNONYMS
    limits: Limits = field(default_factory=Limits)
    _sync: IndexSync = field(init=False)
    # What the old memory answers, by question.
    _answers: list[tuple[_Answer, ...]] = field(init=False)

    def __post_init__(self) -> None:
        self._sync = IndexSync(Index(self.words))
        self._sync.update(self.notes)
        self._answers = [self._answer(case)[: self.limits.inject] for case in self.cases]

    def without_losses(self, decision: Decision) -> Decision:
        """The decision without the operations that would lose an answer, and with their reasons."""
        dated: list[Operation] = []
        checked: list[Operation] = []
        for op in decision.operations:
            if isinstance(op, Invalidate) and is_dated(op):
                dated.append(op)
            else:
                checked.append(op)
        reasons: list[str] = []
        kept = self._harmless(decision, [], checked, reasons)
        if not reasons:
            return decision
        return replace(decision, operations=(*dated, *kept), notes=(*decision.notes, *reasons))

    def _harmless(
        self,
        decision: Decision,
        before: Sequence[Operation],
        operations: Sequence[Operation],
        reasons: list[str],
    ) -> list[Operation]:
        """Those of the operations that lose no answer when they come after those `before`.

        What is about a lost text is left out, and why goes to `reasons`; where nothing is, what
        pushes the text out is found by halving.
        """
        lost = self._lost(decision, [*before, *operations]) if operations else {}
        if not lost:
            return [*operations]
        kept = [self._blamed(op, lost, reasons) for op in operations]
        if len(operations) == 1 and kept == [*operations]:
            kept = [self._replacement(operations[0], next(iter(lost.values())), reasons)]
        left = [op for op in kept if op is not None]
        if left != [*operations]:
            return self._harmless(decision, before, left, reasons)
        middle = len(operations) // 2
        first = self._harmless(decision, before, operations[:middle], reasons)
        rest = self._harmless(decision, [*before, *first], operations[middle:], reasons)
        return [*first, *rest]

    def _blamed(
        self, op: Operation, lost: Mapping[str, RecallCase], reasons: list[str]
    ) -> Operation | None:
        """The operation, or what replaces it if it is about a lost text."""
        texts = [entry.text for entry in self._entries(op)]
        case = next((case for text, case in lost.items() if _holds(texts, text)), None)
        return self._replacement(op, case, reasons) if case else op

    def _lost(self, decision: Decision, operations: Sequence[Operation]) -> dict[str, RecallCase]:
        """The texts and words that operations of a decision lose, and the questions for them."""
        outcome = applied(self.notes, replace(decision, operations=tuple(operations)), self.now)
        self._sync.update(self.notes.after(outcome))
        standing = frozenset((item.text, item.kind) for _, item in self._sync.index.slots())
        # A fold gives a bullet another date and title: where its words stand, nobody lost anything.
        best = 0 if any(isinstance(op, FoldBlocks) for op in operations) else _BEST
        lost: dict[str, RecallCase] = {}
        for case, answers in zip(self.cases, self._answers, strict=True):
            if answers:
                lost |= dict.fromkeys(self._losses(case, answers, standing, best), case)
        return lost

    def _replacement(self, op: Operation, case: RecallCase, reasons: list[str]) -> Operation | None:
        """What is done instead of an operation that loses the answer to a question."""
        # The words of a recent question stay out of the changes: they may quote what is forgotten
        # one day.
        why = f"recall.must asks {case.text!r}" if case.is_must else "a recent question finds it"
        if not isinstance(op, FoldBlocks):
            text = "".join(entry.text for entry in self._entries(op)[:1])
            named = f"{type(op).__name__.lower()} {redacted(white_folded(text))[:_NAMED_CHARS]!r}"
            reasons.append(f"{named}: left as it is, {why}")
            return None
        completed = self._with_found(op)
        count = len(set(completed.bullets) - set(op.bullets))
        if not count:
            reasons.append(f"fold of {op.month}: left as it is, {why}")
            return None
        reasons.append(f"fold of {op.month}: {count} bullets stay word for word, {why}")
        return completed

    def _with_found(self, op: FoldBlocks) -> FoldBlocks:
        """The fold with what questions find in its blocks, word for word.

        What retells one of them goes, so that nothing is told twice; the others that it told of
        come back word for word.
        """
        entries = self._answering(op)
        whens = {one.text: one.when for one in op.originals}
        kept = [Bullet(one.text, (one.id,), when=whens.get(one.text, "")) for one in entries]
        return replace(op, bullets=tuple(dict.fromkeys((*self._others(op, entries), *kept))))

    def _answering(self, op: FoldBlocks) -> list[Entry]:
        """The entries of a fold's blocks that questions find, and that it does not keep."""
        standing = {bullet.text for bullet in op.bullets}
        wanted = {text for answers in self._answers for text, _ in answers} - standing
        return [entry for entry in self._entries(op) if entry.text in wanted]

    def _others(self, op: FoldBlocks, entries: Sequence[Entry]) -> Iterator[Bullet]:
        """The bullets of a fold without what retells the entries."""
        retold: set[str] = set()
        for entry in entries:
            retold |= self._retold_by(entry)
        for bullet in op.bullets:
            if any(says_the_same(bullet.text, entry.text) for entry in entries):
                continue
            if retold.isdisjoint(bullet.sources):
                yield bullet
                continue
            others = set(bullet.sources) - retold
            yield from (one for one in op.originals if others.issuperset(one.sources))

    def _retold_by(self, entry: Entry) -> set[str]:
        """The ids of the bullets that a bullet of history retells: its own, a fold's sources."""
        record = self.notes.record(entry.record_name)
        return {entry.id, *(record.sources if record else ())}

    def _entries(self, op: Operation) -> list[Entry]:
        """The entries an operation is about."""
        if not isinstance(op, FoldBlocks):
            return self.notes.entries_of(op)
        folded = (block for block in blocks(self.notes.history) if block.heading in op.headings)
        return [entry for block in folded for entry in block.bullets]

    def _answer(self, case: RecallCase) -> tuple[_Answer, ...]:
        index = self._sync.index
        found = recall(index, case.text, now=self.now, limits=self.limits, synonyms=self.synonyms)
        return tuple((one.item.text, one.item.kind) for one in found.candidates)

    def _losses(
        self, case: RecallCase, answers: Sequence[_Answer], standing: Set[_Answer], best: int
    ) -> list[str]:
        """The answers of a question, or its words, that are not found any more.

        In another memory words are rarer or commoner: what was found with little evidence may not
        be, though it stands there word for word, as the same kind of thing. That is a loss only of
        the `best` answers, or where `recall.must` asks.
        """
        new = [text for text, _ in self._answer(case)]
        if case.words:
            return _lost_words(case.words, [text for text, _ in answers], new)
        if not case.is_must:
            standing_below = standing - set(answers[:best])
            answers = [answer for answer in answers if answer not in standing_below]
        return [text for text, _ in answers if not self._is_kept(text, new)]

    def _is_kept(self, text: str, new: Sequence[str]) -> bool:
        """Whether a text, or one with most of its words and all of its figures, is among others."""
        if text in new:
            return True
        words = frozenset(self.words.words(text))
        figures = frozenset(word for word in words if any(map(str.isdigit, word)))
        for other in new:
            shared = words.intersection(self.words.words(other))
            if figures <= shared and len(shared) >= _KEPT * len(words):
                return True
        return False


def _lost_words(words: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    return [word for word in words if _holds(old, word) and not _holds(new, word)]


def _holds(texts: Iterable[str], word: str) -> bool:
    """Whether a word stands in one of the texts, white space and case aside."""
    return any(white_folded(word).casefold() in white_folded(text).casefold() for text in texts)
