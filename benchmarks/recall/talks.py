"""The recorded conversations with their questions, indexed, and the score of a formula on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipimem.notes.message import Message
from pipimem.recall.items import message_item
from pipimem.recall.synonyms import Synonyms, common
from pipimem.recall.transcript.formula import FORMULA, Formula
from pipimem.recall.transcript.hits import Hit
from pipimem.recall.transcript.rank import search
from pipimem.recall.transcript.transcript_index import TranscriptIndex
from pipimem.text.words.index_words import Words


def lines(path: Path) -> list[dict]:
    """The JSON objects of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def messages(path: Path) -> list[Message]:
    """The messages of a recorded conversation."""
    return [
        Message(
            row["role"], row["content"], row["id"], datetime.fromisoformat(row["ts"]), row["name"]
        )
        for row in lines(path)
    ]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation and what is asked about it, at the time of its last message."""

    name: str
    index: TranscriptIndex
    questions: tuple[dict, ...]
    now: datetime
    thesaurus: Synonyms

    @property
    def chinese(self) -> bool:
        """Whether the file's name says so."""
        return "zh" in self.name

    def hits(
        self,
        query: str,
        formula: Formula = FORMULA,
        synonyms: Synonyms | None = None,
        limit: int = 10,
    ) -> tuple[Hit, ...]:
        """The messages a search gives; `synonyms` are the thesaurus's if nothing is said."""
        synonyms = self.thesaurus if synonyms is None else synonyms
        return search(
            self.index, query, now=self.now, limit=limit, synonyms=synonyms, formula=formula
        )

    def found(
        self, query: str, formula: Formula = FORMULA, synonyms: Synonyms | None = None
    ) -> list[str]:
        """Their ids."""
        return [hit.item.id.removeprefix("log:") for hit in self.hits(query, formula, synonyms)]

    def score(
        self, formula: Formula = FORMULA, synonyms: Synonyms | None = None
    ) -> tuple[float, float]:
        """R@5 and R@10: the share of the gold groups among the first 5 and 10, averaged over the
        questions.
        """
        sums = [0.0, 0.0]
        for question in self.questions:
            ids = self.found(question["query"], formula, synonyms)
            for place, k in enumerate((5, 10)):
                sums[place] += sum(
                    any(one in ids[:k] for one in group) for group in question["gold"]
                ) / len(question["gold"])
        return sums[0] / len(self.questions), sums[1] / len(self.questions)


def talks(evals: Path, words: Words) -> list[Talk]:
    """Every conversation of the set."""
    found, thesaurus = [], common()
    for path in sorted((evals / "questions").glob("*.jsonl")):
        said = messages(evals / "transcripts" / path.name)
        index = TranscriptIndex(words)
        index.add(map(message_item, said))
        found.append(
            Talk(
                path.stem,
                index,
                tuple(lines(path)),
                max(one.time for one in said if one.time),
                thesaurus,
            )
        )
    return found


def pooled(scores: Sequence[tuple[Talk, tuple[float, float]]]) -> tuple[float, float]:
    """The scores of several conversations as one, by the number of their questions."""
    total = sum(len(talk.questions) for talk, _ in scores)
    if not total:
        return 0.0, 0.0
    five, ten = (
        sum(score[place] * len(talk.questions) for talk, score in scores) / total
        for place in (0, 1)
    )
    return five, ten
