"""What each part of the automatic path gives, with that part off; and formulas that earlier systems
published.

usage: python -m benchmarks.recall.parts EVALS_DIR [--local]

Asked are the hand-written questions of `cases/`, those of `cases/fresh/` and of `cases/unseen/`,
and the questions of EVALS_DIR/notes-scale (50, 500 and 5,000 entries). Silent is the share of
ordinary talk on which nothing is injected. `--local` has only the rows that need the local
embedder.

The formulas of others stand on the same words, the same items and the same near-duplicate removal,
so that only the formula differs. None was published with a way to stay silent on talk but its
threshold: each stands once with its own (any score, where it has none), once with the one that
keeps it as silent as pipimem, chosen on these very questions in its favour.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

from pipimem.recall import ranking, refinement, spelling, vectors
from pipimem.recall import recall as recalling
from pipimem.recall.candidate import Candidate
from pipimem.recall.index import Index
from pipimem.recall.intents import Intent
from pipimem.recall.items import Item
from pipimem.recall.query import Query
from pipimem.recall.recall import recall
from pipimem.recall.sync import IndexSync
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms, common, load_synonyms, synonyms_in
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from benchmarks.machine import heading
from benchmarks.recall import asked
from benchmarks.recall.near import ByMeaning, Near, nowhere
from benchmarks.recall.quality import notes_of
from benchmarks.recall.talks import lines
from benchmarks.segmenting import loaded_segmenter

_SCALE_NOW = datetime.fromisoformat("2026-08-20T00:00:00+00:00")
_FIVE = 5
_MOST = 12
_SHORT_QUESTION = 3

Change = tuple[object, str, object]
Question = Mapping[str, object]
Scored = Sequence[tuple[float, Item]]
Formula = Callable[["RetryingClient", Question], Scored]


@dataclass(frozen=True, slots=True)
class RetryingClient:
    """A set of questions with the channels they are asked of; `own` are the synonyms of its
    words.txt.
    """

    name: str
    questions: tuple[Question, ...]
    indexes: Mapping[str, Index]
    now: datetime
    own: Synonyms
    every: Synonyms

    def found(self, question: Question, synonyms: Synonyms, near: Near = nowhere) -> Scored:
        """What the automatic path gives, best first."""
        there, text = self.indexes[str(question["channel"])], str(question["query"])
        nearness, speaker = near(there, text), asked.speaker_of(question)
        found = recall(
            there, text, now=self.now, speaker=speaker, synonyms=synonyms, nearness=nearness
        )
        return [(one.score, one.item) for one in found.candidates]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what is off, as the context in which that is so, and with which
    synonyms.
    """

    name: str
    off: Callable[[], AbstractContextManager[object]] = nullcontext
    synonyms: Callable[[RetryingClient], Synonyms] = field(default=lambda asking: asking.every)


def sets_of(evals: Path, segmenter: Segmenter) -> list[RetryingClient]:
    """The sets of questions, in the order of the columns."""
    words, built_in = Words(segmenter), common()
    found = []
    for name, cases in (
        ("hand-written", asked.CASES),
        ("fresh", asked.FRESH),
        ("unseen", asked.UNSEEN),
    ):
        text = asked.own_words(cases)
        own, every = synonyms_in(text, words), load_synonyms(text, segmenter, words)
        found.append(
            RetryingClient(
                name,
                tuple(asked.questions(cases)),
                asked.indexes_of(cases, words),
                asked.NOW,
                own,
                every,
            )
        )
    scale = tuple(lines(evals / "notes-scale" / "questions.jsonl"))
    indexes = {}
    for channel in dict.fromkeys(str(question["channel"]) for question in scale):
        index_sync = IndexSync(Index(words))
        index_sync.update(notes_of(evals / "notes-scale", channel))
        indexes[channel] = index_sync.index
    found.append(RetryingClient("notes-scale", scale, indexes, _SCALE_NOW, NO_SYNONYMS, built_in))
    return found


# ── parts that are off ────────────────────────────────────────────────────────────────────────────


@contextmanager
def _asked_otherwise(
    change: Callable[[Query], Query], *others: Change, raw: bool = False
) -> Iterator[None]:
    """Every question changed after it was refined."""

    def refined(text: str, words: Words, **how: object) -> Query:
        if raw:
            how = how | {"raw": True}
        return change(refinement.refined(text, words, **how))  # type: ignore[arg-type]

    with _patched((recalling, "refined", refined), *others):
        yield


def _without(intent: Intent) -> Callable[[], AbstractContextManager[object]]:
    def changed(query: Query) -> Query:
        left = tuple(one for one in query.intents if one is not intent)
        return replace(query, intents=left, pure=query.pure and bool(left))

    return lambda: _asked_otherwise(changed)


@contextmanager
def _patched(*changes: Change) -> Iterator[None]:
    with ExitStack() as stack:
        for where, name, value in changes:
            stack.enter_context(patch.object(where, name, value))
        yield


def _kept_all(
    candidates: Sequence[Candidate], _: Index, __: Query, most: int
) -> tuple[Candidate, ...]:
    return tuple(one._replace(rank=rank) for rank, one in enumerate(candidates[:most], 1))


ROWS: tuple[Row, ...] = (
    Row("everything"),
    *(Row(f"no intent “{intent}”", _without(intent)) for intent in Intent),
    Row(
        "no intents", lambda: _asked_otherwise(lambda query: replace(query, intents=(), pure=False))
    ),
    Row(
        "no seeding: a section that was asked for needs the evidence of any other",
        lambda: _patched((ranking, "SEED_FLOOR", ranking.FLOOR)),
    ),
    Row(
        "… and a question that is only an intent finds nothing by it",
        lambda: _patched(
            (ranking, "SEED_FLOOR", ranking.FLOOR), (ranking, "_by_intent", lambda *_: ())
        ),
    ),
    Row("no synonyms of words.txt", synonyms=lambda _: common()),
    Row("no thesaurus", synonyms=lambda asking: asking.own),
    Row("neither of them", synonyms=lambda _: NO_SYNONYMS),
    Row(
        "no pairs of characters",
        lambda: _asked_otherwise(
            lambda query: replace(query, grams=()), (Index, "_inside_longer", lambda *_: {})
        ),
    ),
    Row("no help for typos", lambda: _patched((spelling.Spelling, "near", lambda *_: ()))),
    Row("no floor", lambda: _patched((recalling, "FLOOR", 0.0))),
    Row("one plain word of many is enough", lambda: _patched((ranking, "_LONE_AMONG", 1_000_000))),
    Row(
        "no refinement: every message is a search",
        lambda: _asked_otherwise(lambda query: query, raw=True),
    ),
    Row("near-duplicates stay", lambda: _patched((recalling, "deduped", _kept_all))),
    Row("no IDF: every word counts the same", lambda: _patched((Index, "_rarity", lambda *_: 1.0))),
    Row(
        "no circumstances: source, intent, recency, trust",
        lambda: _patched((ranking, "circumstances", lambda *_: [])),
    ),
)


# ── formulas of others ────────────────────────────────────────────────────────────────────────────


def _by_coverage(exact: Callable[[int], float]) -> Formula:
    """A weight for the whole question standing in an entry, the rest for the share of its words
    that do.
    """

    def score(asking: RetryingClient, question: Question) -> Scored:
        there, text = asking.indexes[str(question["channel"])], str(question["query"])
        wanted = set(there.words.words(text))
        if not wanted:
            return []
        weight, whole = exact(len(wanted)), text.casefold().strip(" ?？。.!！")
        found = []
        for slot, item in there.slots():
            shared = wanted.intersection(there.bag(slot).words)
            value = weight * (whole in item.text.casefold()) + (1 - weight) * len(shared) / len(
                wanted
            )
            if value:
                found.append((value, item))
        return found

    return score


def _per_word(asking: RetryingClient, question: Question) -> Scored:
    """Our own evidence, divided by the number of the question's words."""
    there, text = asking.indexes[str(question["channel"])], str(question["query"])
    query = refinement.refined(text, there.words, now=asking.now, synonyms=asking.every, raw=True)
    found = there.search(query.terms, query.grams)
    return [
        (value / max(1, len(query.terms)), there.item(slot)) for slot, value in found.totals.items()
    ]


def _bm25_and_cosine(near: ByMeaning) -> Formula:
    """0.3 of BM25, as a share of the best, and 0.7 of the cosine."""

    def score(asking: RetryingClient, question: Question) -> Scored:
        there, text = asking.indexes[str(question["channel"])], str(question["query"])
        query = refinement.refined(text, there.words, now=asking.now, raw=True)
        totals = there.search(query.terms, query.grams).totals
        best = max(totals.values(), default=0.0) or 1.0
        cosines = near.cosines(there, text)
        return [
            (0.3 * totals.get(slot, 0.0) / best + 0.7 * cosines[slot], item)
            for slot, item in there.slots()
        ]

    return score


def _cosine(near: ByMeaning) -> Formula:
    def score(asking: RetryingClient, question: Question) -> Scored:
        there = asking.indexes[str(question["channel"])]
        cosines = near.cosines(there, str(question["query"]))
        return [(cosines[slot], item) for slot, item in there.slots()]

    return score


_BM25_AND_COSINE = "0.3 BM25 (as a share of the best) + 0.7 cosine"
_OTHERS: tuple[tuple[str, float, Formula], ...] = (
    (
        "0.7 exact + 0.3 coverage up to three words, else 0.3 + 0.7",
        0.0,
        _by_coverage(lambda words: 0.7 if words <= _SHORT_QUESTION else 0.3),
    ),
    ("coverage alone: shared words ÷ words of the question", 0.0, _by_coverage(lambda _: 0.0)),
    ("our evidence ÷ words of the question", 0.0, _per_word),
)


def _is_talk(question: Question) -> bool:
    return not question.get("gold_text")


def _silent_least(formula: Formula, asking: RetryingClient) -> float:
    """The lowest threshold that is as silent on talk as pipimem is with everything on."""
    ours = sum(
        1 for one in asking.questions if _is_talk(one) and not asking.found(one, asking.every)
    )
    best = sorted(
        max((value for value, _ in formula(asking, one)), default=0.0)
        for one in asking.questions
        if _is_talk(one)
    )
    return best[ours - 1] + 1e-9 if ours else 0.0


def _as_they_were(
    asking: RetryingClient, formula: Formula, threshold: float
) -> list[tuple[Question, Scored]]:
    told = []
    for question in asking.questions:
        above = sorted(
            (one for one in formula(asking, question) if one[0] >= threshold),
            key=lambda one: -one[0],
        )
        told.append((question, above[:_MOST]))
    return told


# ── the table ─────────────────────────────────────────────────────────────────────────────────────


def _figures(answers: Sequence[tuple[Question, Scored]]) -> str:
    first = five = asked_for = silent = talk = 0
    for question, found in answers:
        if _is_talk(question):
            talk, silent = talk + 1, silent + (not found)
            continue
        gold = question["gold_text"]
        assert isinstance(gold, list)
        asked_for += 1
        rank = next(
            (
                rank
                for rank, (_, one) in enumerate(found, 1)
                if any(text in one.text for text in gold)
            ),
            0,
        )
        first, five = first + (rank == 1), five + (0 < rank <= _FIVE)
    return f"{first / asked_for:.3f} / {five / asked_for:.3f} | {silent / talk:.3f}"


def _print(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main(evals: Path, *, local: bool) -> None:
    """Print the table."""
    segmenter = loaded_segmenter()
    sets = sets_of(evals, segmenter)
    print(
        heading(
            "What each part of the automatic path gives: R@1 / R@5, and the share of talk it is "
            "silent on"
        )
    )
    _print("", [part for one in sets for part in (f"{one.name} ({len(one.questions)})", "silent")])
    print("|---|" + "---|---|" * len(sets))
    if local:
        _print_local(sets)
        return
    for row in ROWS:
        with row.off():
            cells = [
                _figures([(q, one.found(q, row.synonyms(one))) for q in one.questions])
                for one in sets
            ]
        _print(row.name, cells)
    _print_others(sets, _OTHERS)


def _print_local(sets: Sequence[RetryingClient]) -> None:
    """The rows that need an embedder."""
    near = ByMeaning()
    for name, off in (
        ("by words and meaning", nullcontext),
        ("… meaning only lifts what the words found", lambda: _patched((vectors, "_SURE", 9.0))),
        ("… only finds what the words did not, last", lambda: _patched((vectors, "_WEIGHT", 0.0))),
        ("… without the thesaurus", nullcontext),
    ):
        cells = []
        with off():
            for one in sets:
                synonyms = one.own if "thesaurus" in name else one.every
                cells.append(_figures([(q, one.found(q, synonyms, near)) for q in one.questions]))
        _print(name, cells)
    _print_others(
        sets,
        ((_BM25_AND_COSINE, 0.15, _bm25_and_cosine(near)), ("cosine alone", 0.0, _cosine(near))),
    )


def _print_others(
    sets: Sequence[RetryingClient], others: Sequence[tuple[str, float, Formula]]
) -> None:
    for name, threshold, formula in others:
        of = f"threshold {threshold:g}" if threshold else "any score"
        _print(f"{name}; {of}", [_figures(_as_they_were(one, formula, threshold)) for one in sets])
        _print(
            "… as silent as pipimem",
            [_figures(_as_they_were(one, formula, _silent_least(formula, one))) for one in sets],
        )


if __name__ == "__main__":
    arguments = [one for one in sys.argv[1:] if one != "--local"]
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    main(Path(arguments[0]), local="--local" in sys.argv)
