"""What is near in meaning, by the local embedder, for the benchmarks of recall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipimem.llm.embedding import LocalEmbedder
from pipimem.recall.embedding_baseline import Baseline, examples, unit
from pipimem.recall.index import Index
from pipimem.recall.vectors import FAR_FROM_ALL, Nearness, Vectors

# As many as are looked at in a turn.
_MOST = 12

Near = Callable[[Index, str], Nearness]


def nowhere(_index: Index, _text: str) -> Nearness:
    """Without an embedder."""
    return FAR_FROM_ALL


class ByMeaning:
    """Indexes embedded at their first question."""

    def __init__(self) -> None:
        self._embedder = LocalEmbedder()
        self._baseline = Baseline.of(self._embedder.passages(examples()))
        self._vectors: dict[int, Vectors] = {}
        self._questions: dict[str, Sequence[float]] = {}

    def __call__(self, index: Index, text: str) -> Nearness:
        """How near the items of an index are to a question."""
        return self.vectors(index).near(self.question(text), index, self._baseline, _MOST)

    def cosines(self, index: Index, text: str) -> dict[int, float]:
        """The bare cosine of every item, by slot."""
        slots, items = zip(*index.slots(), strict=True)
        rows = self.vectors(index).rows([item.searched for item in items])
        assert rows is not None
        return dict(zip(slots, (unit(rows) @ self.question(text)).tolist(), strict=True))

    def question(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        if text not in self._questions:
            self._questions[text] = unit(self._embedder.queries([text]))[0]
        return self._questions[text]

    def vectors(self, index: Index) -> Vectors:
        """The vectors of an index."""
        if id(index) not in self._vectors:
            vectors = self._vectors[id(index)] = Vectors(b"")
            if texts := vectors.place(index):
                vectors.learn(texts, self._embedder.passages(texts))
                vectors.place(index)
        return self._vectors[id(index)]
