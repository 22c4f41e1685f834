"""Words that were cut before."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.recall.index import Index, TokenCache
from pipimem.recall.items import Item, Source
from pipimem.text.words.index_words import Words

KEY = b"a key of a channel"
TEXTS = (
    "用pnpm安装依赖",
    "the gateway is not up",
    "port 27085 on 2026-03-05",
    "青鸟报表服务，不再发布",
    "",
)


@settings(deadline=None)  # the first text opens the dictionary
@given(st.lists(st.one_of(st.sampled_from(TEXTS), st.text(max_size=40)), unique=True, max_size=8))
def test_a_text_has_the_words_it_was_kept_with(words: Words, texts: list[str]) -> None:
    """Words, pairs of characters and negations; nothing of it is cut again."""
    written = TokenCache(words, KEY).written((text, words.bag(text)) for text in texts)
    cache = TokenCache(words, KEY, written)
    assert [cache.bag(text) for text in texts] == [words.bag(text) for text in texts]
    assert cache.cut == 0


def test_what_is_not_in_the_book_is_cut(words: Words) -> None:
    """A new text, or one under another channel's key."""
    written = TokenCache(words, KEY).written([(TEXTS[0], words.bag(TEXTS[0]))])
    cache, others = TokenCache(words, KEY, written), TokenCache(words, b"another key", written)
    assert (cache.bag(TEXTS[1]), others.bag(TEXTS[0])) == (words.bag(TEXTS[1]), words.bag(TEXTS[0]))
    assert (cache.cut, others.cut) == (1, 1)


def test_the_texts_are_not_in_it(words: Words) -> None:
    """Only their words, each once."""
    text = "Dana keeps the keys of the gateway, and Dana opens it"
    written = TokenCache(words, KEY).written([(text, words.bag(text))])
    assert text not in written
    assert written.count('"dana"') == 1


def test_an_index_gives_what_there_is_to_keep(words: Words) -> None:
    """Entries with their heads; messages do not stay."""
    index = Index(words)
    index.update(
        [
            Item("memory:a", Source.MEMORY, "Rooms", "Rooms", "coffee"),
            Item("log:1", Source.LOG, "", "", "hi"),
        ]
    )
    assert [text for text, _ in index.bags()] == ["Rooms\ncoffee"]
