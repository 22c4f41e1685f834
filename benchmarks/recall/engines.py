"""Other ways to find the same texts by the same words: a scan, SQLite, bm25s, tantivy."""

from __future__ import annotations

import importlib.util
import os
import sqlite3
from collections.abc import Callable, Iterator

from pipimem.text.words.index_words import Words

Engine = Callable[[list[str], Words], Callable[[str], object]]


def _plain_scan(texts: list[str], words: Words) -> Callable[[str], object]:
    folded = [text.casefold() for text in texts]

    def answer(question: str) -> list[int]:
        wanted = words.words(question)
        counts = [
            (sum(word in text for word in wanted), place) for place, text in enumerate(folded)
        ]
        return [place for _, place in sorted(counts, reverse=True)[:10]]

    return answer


def _sqlite(texts: list[str], words: Words) -> Callable[[str], object]:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE talk USING fts5(words)")
    base.executemany(
        "INSERT INTO talk VALUES (?)", ((" ".join(words.words(text)),) for text in texts)
    )

    def answer(question: str) -> list[tuple[int]]:
        wanted = " OR ".join(f'"{word}"' for word in words.words(question) if '"' not in word)
        return base.execute(
            "SELECT rowid FROM talk WHERE talk MATCH ? ORDER BY rank LIMIT 10", (wanted or '""',)
        ).fetchall()

    return answer


def _bm25s(texts: list[str], words: Words) -> Callable[[str], object]:
    os.environ.setdefault("TQDM_DISABLE", "1")
    import bm25s

    index = bm25s.BM25(method="lucene", k1=1.2, b=0.2)
    index.index([words.words(text) or ["\0"] for text in texts], show_progress=False)
    return lambda question: index.retrieve(
        [words.words(question) or ["\0"]], k=10, show_progress=False, n_threads=0
    )


def _tantivy(texts: list[str], words: Words) -> Callable[[str], object]:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("words", stored=False, tokenizer_name="whitespace")
    index = tantivy.Index(schema.build())
    writer = index.writer(50_000_000, 1)
    for text in texts:
        writer.add_document(tantivy.Document(words=" ".join(words.words(text))))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def answer(question: str) -> object:
        terms = [
            (tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "words", word))
            for word in words.words(question)
        ]
        return searcher.search(tantivy.Query.boolean_query(terms), 10).hits

    return answer


ENGINES: dict[str, Engine] = {
    "plain scan": _plain_scan,
    "SQLite FTS5": _sqlite,
    "bm25s": _bm25s,
    "tantivy": _tantivy,
}


def installed() -> Iterator[tuple[str, Engine]]:
    """The engines that are there, by their names."""
    for name, engine in ENGINES.items():
        if name not in ("bm25s", "tantivy") or importlib.util.find_spec(name):
            yield name, engine
