"""Recall on one channel: an index kept up to date with the files; no event loop."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Protocol

from msgspec import Struct, structs

from pipimem.llm.embedding import Vector
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.notes import Notes
from pipimem.recall.budget import limits_of
from pipimem.recall.index import Index, IndexSync, TokenCache
from pipimem.recall.items import Item, message_item
from pipimem.recall.query import Query, refined
from pipimem.recall.ranking import FLOOR
from pipimem.recall.recall import Recall, found_for, no_timing
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness, Vectors
from pipimem.runtime.debug_lines import timings_wanted
from pipimem.runtime.embeddings import Embeddings
from pipimem.runtime.transcript_recall import STILL_SEEN, Seen, TranscriptRecall
from pipimem.runtime.turns import Opening, Openings
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import RecallSettings, SecretSettings, SnapshotSettings
from pipimem.store.channel import ChannelStore
from pipimem.store.transcript.log import Transcript
from pipimem.text.secrets import NO_LIST
from pipimem.text.talk.asking import off_the_record

# Entries in all indexes together. An entry with its text, words and places takes 5 KB (measured
# over 1,000 channels of 100), so this is 160 MB; a bot with 300 channels of 100 entries never reads
# one twice.
MOST_ENTRIES = 30_000


class Unloadable(Protocol):
    """Something that holds an index, and can let it go."""

    def size(self) -> int:
        """How many entries it holds now."""

    def unload(self) -> None:
        """Let go of what can be read again."""


class IndexLru:
    """The indexes of a process, the one asked last at the end."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._sizes: OrderedDict[int, tuple[Unloadable, int]] = OrderedDict()
        self._total = 0

    def touch(self, one: Unloadable) -> None:
        """Mark `one` as used last; the least recently used are unloaded while all are too large."""
        with self._lock:
            self._forget(one)
            size = one.size()
            self._sizes[id(one)] = one, size
            self._total += size
            unloaded: list[Unloadable] = []
            while self._total > self._most and len(self._sizes) > 1:
                oldest, _ = next(iter(self._sizes.values()))
                self._forget(oldest)
                unloaded.append(oldest)
        for each in unloaded:
            each.unload()

    def remove(self, one: Unloadable) -> None:
        """Counts one no more that was unloaded by somebody else."""
        with self._lock:
            self._forget(one)

    def _forget(self, one: Unloadable) -> None:
        _, size = self._sizes.pop(id(one), (one, 0))
        self._total -= size


# How much talk that is not consolidated yet is recallable: the newest messages before the current
# epoch, and of those that were set aside so many. They are older than all others, and would never
# have a turn in one bound.
_BACKLOG = 400
_SET_ASIDE = 100
# Cutting one costs 0.1 ms: below this the file would cost as much as it saves.
_WORTH_KEEPING = 100


class _IndexState(Struct, frozen=True):
    """What was read of a channel at one time: its notes, and all that was made of them.

    `backlog` holds older messages that were never consolidated, `of_backlog` what it was chosen by;
    `texts_without_vectors` are not embedded yet.
    """

    notes: Notes
    index_sync: IndexSync
    token_cache: TokenCache
    of_backlog: tuple[object, ...]
    backlog: tuple[Message, ...]
    vectors: Vectors | None
    texts_without_vectors: list[str]


@dataclass(slots=True)
class RecallService:
    """One channel's index, updated to its files at each query; `index_lru` bounds all indexes.

    Bringing it up is work for a thread; questions asked meanwhile find the index as it was. `own`
    is what is masked besides the known kinds of secrets.
    """

    store: ChannelStore
    vocabulary: Vocabulary
    settings: RecallSettings
    index_lru: IndexLru | None = None
    embeddings: Embeddings | None = None
    snapshot: SnapshotSettings = field(default_factory=SnapshotSettings)
    own: SecretSettings = NO_LIST
    transcript_recall: TranscriptRecall = field(init=False)
    _state: _IndexState | None = None
    _openings: Openings = field(init=False)
    # Held from reading the notes until their state is in place: else a thread that read earlier
    # could put its older state there last.
    _reading: threading.Lock = field(default_factory=threading.Lock)
    # Held while a new state is put in place, or its vectors are kept.
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # The seconds of the last look, for PIPIMEM_DEBUG.
    _seconds_of_look: float = 0.0

    def __post_init__(self) -> None:
        self.transcript_recall = TranscriptRecall(self.store, self.vocabulary)
        self._openings = Openings(self.snapshot, self.own)

    @property
    def is_loaded(self) -> bool:
        """Whether the index is built: only the first reading takes long."""
        return self._state is not None

    def notes(self, unchanged: Notes | None = None) -> Notes:
        """Fresh notes with the index updated to them; `unchanged` if the caller just looked.

        Takes long where the notes are others than last time.
        """
        began = time.perf_counter()
        self.vocabulary.synonyms()  # the words of words.txt decide how texts are cut
        notes = unchanged or self._read_notes()
        if self.index_lru is not None:
            self.index_lru.touch(self)
        self._seconds_of_look = time.perf_counter() - began
        return notes

    def _read_notes(self) -> Notes:
        with self._reading:
            notes = self.store.notes()
            if not self.is_up_to(notes):
                self._update(notes)
            return notes

    def is_up_to(self, notes: Notes | None) -> bool:
        """Whether the index at hand is that of these notes."""
        state = self._state
        return state is not None and state.notes is notes

    def size(self) -> int:
        """How many entries and messages the index holds."""
        state = self._state
        return self.transcript_recall.size() + (len(state.index_sync.index) if state else 0)

    def unload(self) -> None:
        """Frees index and notes; the next query reads them again."""
        self._state = None
        self._openings.drop()
        self.transcript_recall.drop()
        self.store.drop_cached()
        if self.index_lru is not None:
            self.index_lru.remove(self)

    def known_opening(self, *, first: bool) -> Opening | None:
        """What a turn begins with if that was made of these notes before; costs nothing."""
        state = self._state
        return None if state is None else self._openings.known(state.notes, first=first)

    def opening(self, *, first: bool) -> Opening:
        """What a turn begins with, by the notes as last read; on the `first` the whole snapshot."""
        state = self._loaded_state()
        notes, index = state.notes, state.index_sync.index
        return self._openings.made(notes, index, first=first, is_direct=notes.is_direct)

    def personal_items(self, text: str, speaker: str, today: date) -> tuple[Item, ...]:
        """Return what opens the recalled block of a message: wishes, health, and what is due.

        Call it after `opening`, by whose notes it is chosen.
        """
        personal, newest = self._openings.personal, list[Item]()
        if personal.health and not personal.is_direct:
            transcript = self.store.transcript
            seen = transcript.window(max(0, transcript.last_number - STILL_SEEN))
            newest += map(message_item, seen)
        items = personal.of_turn(speaker, text, newest)
        return (*items, *self._openings.due_items(today))

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
        seen: Seen | None = None,
    ) -> Recall:
        """What the notes, as last read, have to say to a message, and what was said of it.

        `question` is the message's vector, where there is an embedder and it was not late; `seen`
        is what the model still sees: without it the transcript is not asked.
        """
        state, limits = self._loaded_state(), limits_of(self.settings, limit)
        timings = timings_wanted(self._seconds_of_look)
        nearness = self._nearness(question, state, limits.candidates)
        done = timings or no_timing
        if nearness is not FAR_FROM_ALL:
            done("meaning")
        query = self.query(text, now, speaker, automatic=automatic)
        done("refine")
        floor = FLOOR if automatic else 0.0
        index = state.index_sync.index
        found = found_for(
            index, query, now, floor, shown=shown, limits=limits, nearness=nearness, done=done
        )
        if seen is not None:
            excerpts = self.transcript_recall.excerpts(query, found, state.notes, limits, now, seen)
            found = replace(found, excerpts=excerpts) if excerpts else found
            done("transcript")
        if timings is not None:
            timings.write(self.store.channel_id, found)
        return found.masked(self.own)

    def query(self, text: str, now: datetime, speaker: str = "", *, automatic: bool) -> Query:
        """A message as it is looked for, or why it is not."""
        words, synonyms = self.vocabulary.words, self.vocabulary.synonyms()
        return refined(text, words, now=now, speaker=speaker, synonyms=synonyms, raw=not automatic)

    def _nearness(self, question: Vector | None, state: _IndexState, candidates: int) -> Nearness:
        if question is None or state.vectors is None or self.embeddings is None:
            return FAR_FROM_ALL
        vectors, index, baseline = state.vectors, state.index_sync.index, self.embeddings.baseline()
        near = self.embeddings.attempt(lambda: vectors.near(question, index, baseline, candidates))
        return near or FAR_FROM_ALL

    def _loaded_state(self) -> _IndexState:
        while True:  # another thread may unload it at any time
            state = self._state
            if state is not None:
                return state
            self.notes()

    def _update(self, notes: Notes) -> None:
        state, words = self._state, self.vocabulary.words
        if state is None:
            token_cache = TokenCache(
                words, self.store.key, self.store.caches.kept_words(self.vocabulary.stamp())
            )
            index_sync = IndexSync(Index(words, token_cache.bag))
        else:
            token_cache, index_sync = state.token_cache, state.index_sync
        ledger = notes.ledger
        chosen_by = backlog_chosen_by(self.store.transcript, ledger)
        if state is not None and chosen_by == state.of_backlog:
            backlog = state.backlog
        else:
            backlog = recallable_backlog(self.store.transcript, ledger)
        forgets = state is not None and ledger.tombstones != state.notes.ledger.tombstones
        if forgets:
            self.transcript_recall.drop()
        index_sync = index_sync.updated(notes, backlog)
        self.transcript_recall.look_for_rewordings(notes)
        with self._lock:
            vectors, texts_without_vectors = self._placed(index_sync.index, forgets=forgets)
            self._state = _IndexState(
                notes, index_sync, token_cache, chosen_by, backlog, vectors, texts_without_vectors
            )

    # ── the vectors ───────────────────────────────────────────────────────────────────────────────

    def _placed(self, index: Index, *, forgets: bool) -> tuple[Vectors | None, list[str]]:
        """The vectors placed in `index`, and the texts without one; call under the lock."""
        if self.embeddings is None:
            return None, []
        vectors = self._state.vectors if self._state else None
        if vectors is None:
            vectors = self.embeddings.attempt(self._kept_vectors)
        if vectors is None:
            return None, []
        return vectors, self.embeddings.attempt(lambda: vectors.place(index, forgets=forgets)) or []

    def _kept_vectors(self) -> Vectors:
        vectors = Vectors(self.store.key)
        if self.embeddings is not None:
            vectors.read(self.store.caches.kept_vectors(self.embeddings.name))
        return vectors

    def wants_vector(self, text: str, now: datetime, *, automatic: bool = True) -> bool:
        """Whether the vector of a message would be of use: it looks for something."""
        state = self._state
        if self.embeddings is None or not self.embeddings.is_ready:
            return False
        if state is None or not state.vectors:
            return False
        query = self.query(text, now, automatic=automatic)
        return not query.silent and not query.pure

    def texts_without_vectors(self, most: int | None) -> list[str]:
        """Texts without a vector yet, at most `most`; reads the files if the index is built."""
        if self.is_loaded:
            self.notes()
        state = self._state
        return state.texts_without_vectors[:most] if state else []

    def add_vectors(self, texts: Sequence[str], vectors: Sequence[Vector]) -> None:
        """Add the vectors of texts that had none."""
        with self._lock:
            state = self._state
            if state is None or state.vectors is None:
                return  # unloaded meanwhile
            all_vectors = state.vectors
            try:
                all_vectors.learn(texts, vectors)
            except ValueError:  # the embedder changed under its name: all anew
                all_vectors = Vectors(self.store.key)
                all_vectors.learn(texts, vectors)
            texts_without_vectors = all_vectors.place(state.index_sync.index)
            self._state = structs.replace(
                state, vectors=all_vectors, texts_without_vectors=texts_without_vectors
            )

    def embed_missing(self, embeddings: Embeddings, most: int | None = None) -> bool:
        """Embed up to `most` texts without vectors; whether any were, so more may follow."""
        texts = self.texts_without_vectors(most)
        vectors = embeddings.passages(texts) if texts else None
        if vectors is None:
            return False
        self.add_vectors(texts, vectors)
        return True

    # ── for the next start ────────────────────────────────────────────────────────────────────────

    def keep_words(self) -> None:
        """Write the token cache for the next start if enough texts were tokenized."""
        if self._state is not None and self._state.token_cache.cut >= _WORTH_KEEPING:
            self.notes()
            state = self._loaded_state()
            written = state.token_cache.written(state.index_sync.index.bags())
            self.store.caches.keep_words(self.vocabulary.stamp(), written, state.notes)
            state.token_cache.cut = 0

    def keep_vectors(self) -> None:
        """Keep the vectors for the next start, where there are new ones."""
        with self._lock:  # who comes second waits until they are kept
            state = self._state
            if state is None or self.embeddings is None:
                return
            if state.vectors is not None and state.vectors.new:
                self.store.caches.keep_vectors(
                    self.embeddings.name, state.vectors.written(), state.notes
                )


def recallable_backlog(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """The messages before the current epoch that no entry was made of, oldest first.

    Without what its speakers ask not to note: no turn shows it.
    """
    spooled = transcript.spooled()
    messages = (*_set_aside(transcript, ledger), *_waiting(transcript, ledger), *spooled)
    hidden = off_the_record(messages)
    return tuple(message for message in messages if message.id not in hidden)


def backlog_chosen_by(transcript: Transcript, ledger: Ledger) -> tuple[object, ...]:
    """What the backlog depends on: equal values choose the same messages."""
    spooled = tuple(message.id for message in transcript.spooled())
    # With every forgetting there are new tombstones, and the messages may have been emptied.
    return ledger.cursor, ledger.epoch_start, ledger.holes, ledger.tombstones, spooled


def _waiting(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """Those behind the cursor."""
    cursor, end = ledger.cursor, ledger.epoch_start
    if cursor >= end:
        return ()
    return tuple(transcript.window(max(cursor, end - _BACKLOG), end))


def _set_aside(transcript: Transcript, ledger: Ledger) -> tuple[Message, ...]:
    """Those that no model could make sense of."""
    found: list[Message] = []
    for hole in reversed(ledger.holes):
        room, end = _SET_ASIDE - len(found), min(hole.last, ledger.epoch_start)
        if room > 0 and hole.first <= end:
            found = [*transcript.window(max(hole.first - 1, end - room), end), *found]
    return tuple(found)
