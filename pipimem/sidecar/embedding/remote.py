"""Embedding models of providers, through litellm; every request is a line of the usage ledger."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from types import ModuleType

from pipimem.errors import ModelUnavailable
from pipimem.sidecar.body_limit import bounded
from pipimem.sidecar.completions import cost_of
from pipimem.sidecar.door import Ask, Completion, Price, Turn
from pipimem.sidecar.embedding.embedder import Vector
from pipimem.sidecar.failures import too_long, translated
from pipimem.sidecar.governor import EMBED
from pipimem.sidecar.litellm_door import listed_price, loaded
from pipimem.sidecar.metering import Attempt

# Seconds for one request; a turn that waits for a question goes on earlier.
_TIMEOUT = 30.0
# Texts a request: below what any provider refuses.
_AT_ONCE = 64
_CHARS = 8_000


class Remote:
    """`Embedder` through a litellm model such as `openai/text-embedding-3-small`.

    `begin` lets each request out and records it, failed ones too; it raises `BudgetSpent`. Keys and addresses come
    from the provider's own variables.
    """

    def __init__(
        self,
        model: str,
        begin: Callable[[Ask, Price | None], Attempt],
        *,
        api_base: str | None = None,
        api_key: str | None = None,
    ) -> None:
        self.name = model
        self._begin = begin
        self._address = {"api_base": api_base, "api_key": api_key}
        self._lock = threading.Lock()
        self._litellm: ModuleType | None = None

    def queries(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each question. Raises `ModelUnavailable` and its kin, `ModelTimeout` or `BudgetSpent`."""
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """A vector for each entry, in as few requests as providers take."""
        found: list[Vector] = []
        for start in range(0, len(texts), _AT_ONCE):
            found += self._requested(
                [text[:_CHARS] or " " for text in texts[start : start + _AT_ONCE]]
            )
        return found

    def _requested(self, texts: list[str]) -> list[Vector]:
        with self._lock:
            if self._litellm is None:
                self._litellm = loaded()
        litellm = self._litellm
        address = {name: value for name, value in self._address.items() if value is not None}
        turns = tuple(Turn("user", text) for text in texts)
        ask = Ask(
            self.name, turns, _TIMEOUT, max_tokens=0, task=EMBED, correlation=secrets.token_hex(6)
        )
        with self._begin(ask, listed_price(litellm, self.name)) as attempt:
            try:
                with bounded() as body:
                    response = litellm.embedding(
                        model=self.name, input=texts, timeout=_TIMEOUT, num_retries=0, max_retries=0,
                        drop_params=True, encoding_format="float", **address,
                    )  # fmt: skip
            except litellm.openai.OpenAIError as reason:
                if body.is_cut:
                    raise too_long(self.name, body) from reason
                raise translated(reason, self.name, litellm) from reason
            tokens = getattr(getattr(response, "usage", None), "prompt_tokens", 0) or 0
            attempt.completion = Completion("", tokens_in=tokens, cost=cost_of(response))
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self.name} gave {len(rows)} vectors for {len(texts)} texts.")
        return [row["embedding"] for row in rows]
