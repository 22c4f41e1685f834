"""Embedding models of providers, through litellm; every request is a line of the usage ledger."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from types import ModuleType

from pipimem.errors import ModelUnavailable, SidecarError
from pipimem.notes.usage import Usage
from pipimem.sidecar.embedding.embedder import Vector
from pipimem.sidecar.failures import translated
from pipimem.sidecar.litellm_door import loaded
from pipimem.text.tokens import estimate

# Seconds for one request; a turn that waits for a question goes on earlier.
_TIMEOUT = 30.0
# Texts a request: below what any provider refuses.
_AT_ONCE = 64
_CHARS = 8_000
TASK = "embed"


class Remote:
    """`Embedder` through a litellm model such as `openai/text-embedding-3-small`.

    `record` takes each request, failed ones too; `grant` is asked before each with the tokens it takes, and raises
    `BudgetSpent`. `wall` and `monotonic` tell the time. Keys and addresses come from the
    provider's own variables.
    """

    def __init__(
        self,
        model: str,
        record: Callable[[Usage], None],
        grant: Callable[[int], None],
        wall: Callable[[], datetime],
        monotonic: Callable[[], float],
        *,
        api_base: str | None = None,
        api_key: str | None = None,
    ) -> None:
        self.name = model
        self._record, self._grant, self._wall, self._monotonic = record, grant, wall, monotonic
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
            found += self._requested([text[:_CHARS] or " " for text in texts[start : start + _AT_ONCE]])
        return found

    def _requested(self, texts: list[str]) -> list[Vector]:
        self._grant(sum(map(estimate, texts)))
        with self._lock:
            if self._litellm is None:
                self._litellm = loaded()
        litellm, began = self._litellm, self._monotonic()
        address = {name: value for name, value in self._address.items() if value is not None}
        try:
            response = litellm.embedding(
                model=self.name, input=texts, timeout=_TIMEOUT, num_retries=0, max_retries=0,
                drop_params=True, encoding_format="float", **address,
            )  # fmt: skip
        except litellm.openai.OpenAIError as reason:
            error = translated(reason, self.name, litellm)
            self._told(began, error=error)
            raise error from reason
        usage = getattr(response, "usage", None)
        cost = getattr(response, "_hidden_params", {}).get("response_cost")
        self._told(began, getattr(usage, "prompt_tokens", 0) or 0, None if cost is None else float(cost))
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ModelUnavailable(f"{self.name} gave {len(rows)} vectors for {len(texts)} texts.")
        return [row["embedding"] for row in rows]

    def _told(
        self, began: float, tokens: int = 0, cost: float | None = None, error: SidecarError | None = None
    ) -> None:
        self._record(
            Usage(
                time=self._wall().isoformat(timespec="milliseconds"), channel="", task=TASK, model=self.name,
                tokens_in=tokens, tokens_out=0, tokens_cached=0, cost=cost,
                latency=round(self._monotonic() - began, 3), outcome="error" if error else "ok",
                correlation=secrets.token_hex(6), reason=str(error) if error else "",
            )
        )  # fmt: skip
