"""Reading: what a channel's memory has to say to a question, kept up with its files; no loop, no thoughts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.recall.budgeting import Limits
from pipimem.recall.gathering import Gathering
from pipimem.recall.index import Index
from pipimem.recall.recalling import Recall, fitted, recall, unwatched
from pipimem.recall.refinement import refined
from pipimem.recall.remembering import Answers
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness, Vectors
from pipimem.recall.wordbook import Wordbook
from pipimem.runtime.meaning import Meaning
from pipimem.runtime.shelving import Shelf
from pipimem.runtime.stages import Stages, may_tell
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import RecallSettings
from pipimem.sidecar.embedding.embedder import Vector
from pipimem.store.caches.figures import Kept
from pipimem.store.channel import ChannelStore

# How much talk that no thought has seen is recallable: the newest messages before the current epoch, and of those that
# were set aside so many. They are older than all others, and would never have a turn in one bound.
_BACKLOG = 400
_SET_ASIDE = 100


# Cutting one costs 0.1 ms: below this the file would cost as much as it saves.
_WORTH_KEEPING = 100


def limits_of(settings: RecallSettings, most: int | None = None) -> Limits:
    """How much a turn is shown: the settings, or `most` entries."""
    return Limits(
        inject=most or settings.inject,
        candidates=max(most or 0, settings.candidates),
        max_chars=settings.max_chars,
        max_tokens=settings.max_tokens,
    )


@dataclass(slots=True)
class Reading:
    """One channel's index, brought up to its files at each question; with a `shelf`, kept as long as there is room.

    Bringing it up is work for a thread. Questions that are asked meanwhile find the index as it was.
    """

    store: ChannelStore
    vocabulary: Vocabulary
    settings: RecallSettings
    shelf: Shelf | None = None
    meaning: Meaning | None = None
    answers: Answers = field(default_factory=Answers)
    gathering: Gathering | None = None
    figures: Kept = field(default_factory=Kept)
    _vectors: Vectors | None = None
    _lacking: list[str] = field(default_factory=list)
    _stages: Stages | None = None
    _book: Wordbook | None = None
    _gathered: Notes | None = None
    # Held while the index at hand and its vectors become others, or are kept.
    _placing: threading.Lock = field(default_factory=threading.Lock)
    _told_backlog: tuple[object, ...] = ()
    _backlog: tuple[Message, ...] = ()

    def _fresh_gathering(self) -> Gathering:
        self._book = Wordbook(
            self.vocabulary.words,
            self.store.key,
            self.store.caches.kept_words(self.vocabulary.stamp()),
        )
        return Gathering(Index(self.vocabulary.words, self._book.bag))

    @property
    def is_warm(self) -> bool:
        """Whether the index is built: only the first reading takes long."""
        return self._gathered is not None

    def notes(self, unchanged: Notes | None = None) -> Notes:
        """Fresh notes, with the index brought up to them; `unchanged` where the caller has just looked.

        Takes long where the notes are others than last time; see `is_up_to`.
        """
        stages = self._stages = Stages() if may_tell() else None
        self.vocabulary.synonyms()  # the words of words.txt decide how texts are cut
        notes = unchanged or self.store.notes()
        if notes is not self._gathered:
            gathering = self.gathering or self._fresh_gathering()
            self._read_backlog(notes)
            gathering = gathering.updated(notes, self._backlog)
            with self._placing:
                if self.meaning is not None:
                    self._place(gathering.index, self.meaning)
                # Together: it may have been laid to rest while this went on in another thread.
                self.gathering, self._gathered = gathering, notes
                self._forget_answers()
        if self.shelf is not None:
            self.shelf.used(self)
        if stages is not None:
            stages("look")
        return notes

    def is_up_to(self, notes: Notes | None) -> bool:
        """Whether the index at hand is that of these notes."""
        return notes is not None and notes is self._gathered

    def size(self) -> int:
        """How many entries and messages the index holds."""
        return len(self.gathering.index) if self.gathering else 0

    def keep_words(self) -> None:
        """Keep the words of what is indexed for the next start, where that would have to cut many texts anew."""
        if (
            self._book is not None
            and self._book.cut >= _WORTH_KEEPING
            and self._gathered is not None
        ):
            self.notes()
            if self.gathering is not None:
                self.store.caches.keep_words(
                    self.vocabulary.stamp(),
                    self._book.written(self.gathering.index.bags()),
                    self._gathered,
                )
                self._book.cut = 0

    def rest(self) -> None:
        """Let go of index and notes until somebody asks again."""
        self._gathered, self.gathering, self._book = None, None, None
        self._told_backlog, self._backlog = (), ()
        self._vectors, self._lacking = None, []
        self._forget_answers()
        self.store.rest()
        if self.shelf is not None:
            self.shelf.left(self)

    def recalled(
        self,
        text: str,
        now: datetime,
        *,
        speaker: str = "",
        limit: int | None = None,
        automatic: bool = True,
        shown: frozenset[str] = frozenset(),
        question: Vector | None = None,
    ) -> Recall:
        """What the notes, as last read, have to say to a message; asked again soon, what they had to say then.

        `question` is the message's vector, where there is an embedder and it was not late.
        """
        limits = self.limits(limit)
        asked = text, speaker, limits, automatic, question is not None
        answers = self.answers
        known = answers.to((*asked[:-1], True), now) if self.meaning is not None else None
        known = known or answers.to(asked, now)
        self.figures = self.figures.and_then(Kept(looks=1, hits=known is not None))
        if known is not None:
            return self._told(fitted(known, limits, shown), hit=True)
        while (
            gathering := self.gathering
        ) is None:  # it may be laid to rest while this goes on in a thread
            self.notes()
        found = recall(
            gathering.index,
            text,
            now=now,
            shown=shown,
            limits=limits,
            automatic=automatic,
            speaker=speaker,
            synonyms=self.vocabulary.synonyms(),
            nearness=self._nearness(question, limits, gathering.index),
            done=self._stages or unwatched,
        )
        answers.keep(asked, now, found)
        return self._told(found, hit=False)

    def wants_meaning(
        self, text: str, now: datetime, speaker: str = "", *, automatic: bool = True
    ) -> bool:
        """Whether the vector of a message would be of use: it looks for something, and was not asked a moment ago."""
        if self.meaning is None or not self._vectors or not self.meaning.is_ready:
            return False
        if self.answers.to((text, speaker, self.limits(), automatic, True), now) is not None:
            return False
        query = refined(
            text,
            self.vocabulary.words,
            now=now,
            synonyms=self.vocabulary.synonyms(),
            raw=not automatic,
        )
        return not query.silent and not query.pure

    def lacking(self, most: int | None) -> list[str]:
        """Texts of the channel that have no vector yet; looks at the files first, where the index is built."""
        if self.is_warm:
            self.notes()
        return self._lacking[:most]

    def learnt(self, texts: Sequence[str], vectors: Sequence[Vector]) -> None:
        """Take in the vectors of what was lacking."""
        with self._placing:
            gathering, known = self.gathering, self._vectors
            if known is None or gathering is None:
                return  # it was laid to rest meanwhile
            try:
                known.learn(texts, vectors)
            except ValueError:  # the embedder changed under its name: all anew
                known = self._vectors = Vectors(self.store.key)
                known.learn(texts, vectors)
            self._lacking = known.place(gathering.index)
            self._forget_answers()

    def keep_vectors(self) -> None:
        """Keep the vectors for the next start, where there are new ones."""
        with self._placing:  # who comes second waits until they are kept
            seen = self._gathered
            if (
                self._vectors is not None
                and self._vectors.new
                and self.meaning is not None
                and seen is not None
            ):
                self.store.caches.keep_vectors(self.meaning.name, self._vectors.written(), seen)

    def _place(self, index: Index, meaning: Meaning) -> None:
        if self._vectors is None:
            self._vectors = Vectors(self.store.key)
            self._vectors.read(self.store.caches.kept_vectors(meaning.name))
        self._lacking = self._vectors.place(index)

    def _forget_answers(self) -> None:
        # Another object: what is asked right now, of the index as it was, is kept in the old one.
        self.answers = Answers()

    def _nearness(self, question: Vector | None, limits: Limits, index: Index) -> Nearness:
        vectors = (
            self._vectors
        )  # once: in another thread it may be laid to rest, or placed in another index
        if question is None or vectors is None or self.meaning is None:
            return FAR_FROM_ALL
        found = vectors.near(question, index, self.meaning.yardstick(), limits.candidates)
        if self._stages is not None:
            self._stages("meaning")
        return found

    @contextmanager
    def waited_for(self) -> Iterator[None]:
        """A turn waits for the memory for as long as this is open."""
        began = time.perf_counter()
        try:
            yield
        finally:
            milliseconds = round((time.perf_counter() - began) * 1000, 3)
            self.figures = self.figures.and_then(Kept(turns=1, waits=(milliseconds,)))

    def keep_figures(self) -> None:
        """Add what was counted since the last time to the channel's own figures, where anything was."""
        figures, self.figures = self.figures, Kept()
        if figures != Kept():
            self.store.caches.add_figures(figures)

    def _told(self, found: Recall, *, hit: bool) -> Recall:
        if self._stages is not None:
            self._stages.tell(self.store.channel_id, found, hit=hit)
            self._stages = None  # the next question looks again first
        return found

    def limits(self, most: int | None = None) -> Limits:
        """How much a turn is shown: the settings, or `most` entries."""
        return limits_of(self.settings, most)

    def _read_backlog(self, notes: Notes) -> None:
        """Talk from before this epoch that is on disk but not consolidated: recallable at once."""
        ledger = notes.ledger
        # With every forgetting there are new tombstones, and the messages may have been emptied.
        told = ledger.cursor, ledger.epoch_start, ledger.holes, ledger.tombstones
        if told != self._told_backlog:
            self._backlog = (*self._set_aside(ledger), *self._waiting(ledger))
            self._told_backlog = told

    def _waiting(self, ledger: Ledger) -> tuple[Message, ...]:
        cursor, end = ledger.cursor, ledger.epoch_start
        return (
            tuple(self.store.transcript.window(max(cursor, end - _BACKLOG), end))
            if cursor < end
            else ()
        )

    def _set_aside(self, ledger: Ledger) -> tuple[Message, ...]:
        found: list[Message] = []
        for hole in reversed(ledger.holes):
            room, end = _SET_ASIDE - len(found), min(hole.last, ledger.epoch_start)
            if room > 0 and hole.first <= end:
                found = [
                    *self.store.transcript.window(max(hole.first - 1, end - room), end),
                    *found,
                ]
        return tuple(found)
