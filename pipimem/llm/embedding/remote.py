"""Embedding models of providers, through litellm; every request is a line of the usage ledger."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from pipimem.errors import ModelUnavailable
from pipimem.llm.admission import EMBED
from pipimem.llm.embedding import Vector
from pipimem.llm.failures import translated_errors
from pipimem.llm.litellm_client import cost_of, listed_price, load_litellm, single_attempt
from pipimem.llm.metering import Attempt
from pipimem.llm.request import Completion, ModelRequest, Price, PromptMessage

# Seconds for one request; a turn that waits for a question goes on earlier.
_TIMEOUT = 30.0
# Texts a request: below what any provider refuses.
_BATCH = 64
_CHARS = 8_000


class LiteLLMEmbedder:
    """`Embedder` through a litellm model such as `openai/text-embedding-3-small`.

    `admit` lets each request out and records it, failed ones too; it raises `BudgetSpent`. Keys and
    addresses come from the provider's own variables.
    """

    def __init__(self, model: str, admit: Callable[[ModelRequest, Price | None], Attempt]) -> None:
        self.name = model
        self._admit = admit

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question; raises `ModelUnavailable`, `ModelTimeout`, `BudgetSpent`."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry, in as few requests as providers take."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            vectors += self._embedded([text[:_CHARS] or " " for text in batch])
        return vectors

    def _embedded(self, texts: list[str]) -> list[Vector]:
        litellm = load_litellm()
        request = ModelRequest(
            self.name,
            tuple(PromptMessage("user", text) for text in texts),
            _TIMEOUT,
            max_tokens=0,
            task=EMBED,
            correlation=secrets.token_hex(6),
        )
        arguments = single_attempt(self.name, _TIMEOUT)
        with self._admit(request, listed_price(litellm, self.name)) as attempt:
            with translated_errors(litellm, self.name):
                response = litellm.embedding(input=texts, encoding_format="float", **arguments)
            tokens = getattr(getattr(response, "usage", None), "prompt_tokens", 0) or 0
            attempt.completion = Completion("", tokens_in=tokens, cost=cost_of(response))
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self.name} gave {len(rows)} vectors for {len(texts)} texts.")
        return [row["embedding"] for row in rows]
