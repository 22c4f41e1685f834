"""Who answers a workspace's tasks: the host's assistant, models in their budget, offline rules."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pipimem.clock import Clock
from pipimem.errors import SidecarError
from pipimem.notes.message import Message
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.guarded import GuardedAssistant
from pipimem.sidecar.tasks import Assistant, Call
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission

_OFFLINE = "offline"

_log = logging.getLogger("pipimem")


class Assistants:
    """Who answers the tasks of a workspace's channels.

    `chosen` is the host's own where it `given` one, else the `model`, else that of the settings.
    """

    def __init__(
        self,
        store: WorkspaceStore,
        settings: Settings,
        clock: Clock,
        vocabulary: Vocabulary,
        model: str,
        given: Assistant | None,
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._vocabulary = vocabulary
        self._made_admission: Admission | None = None
        self._making_admission = threading.Lock()
        if given is not None:
            self.chosen: Assistant = GuardedAssistant(given)
        else:
            self.chosen = self._of_model(model or settings.model.name)
        self.asks_litellm = given is None and self.chosen.paid

    def _of_model(self, model: str) -> Assistant:
        if model == _OFFLINE:
            # Its tables of cues: only where the rules think.
            from pipimem.sidecar.rules import Offline

            return Offline(self._vocabulary.words)
        # litellm's room: only when a model is asked for.
        from pipimem.llm.client import RetryingClient
        from pipimem.llm.litellm_client import LiteLLM
        from pipimem.sidecar.model import ModelAssistant
        from pipimem.sidecar.prompts import Prompts

        provider = LiteLLM()
        client = RetryingClient(
            (model, *self._settings.model.fallbacks),
            provider,
            partial(self.admission().admit, price=provider.price),
            self._clock.monotonic,
            self._settings.model.concurrency,
        )
        return ModelAssistant(client, Prompts(self._store.root / "prompts"))

    def with_fallback(self) -> Assistant:
        """The assistant of a channel; the offline rules take over when the budget is spent."""
        if not self.chosen.paid:
            return self.chosen
        from pipimem.sidecar.rules import Fallback, Offline

        return Fallback(self.chosen, Offline(self._vocabulary.words))

    def admission(self) -> Admission:
        """The budget of all model and embedding calls; made when first asked for."""
        from pipimem.llm.admission import Admission

        with self._making_admission:
            if self._made_admission is None:
                usage_store, budget = self._store.usage_store, self._settings.budget
                self._made_admission = Admission(usage_store, budget, self._clock, _log.warning)
            return self._made_admission

    async def reply(self, messages: Sequence[Message], channel: str, timeout: float) -> str:
        """A model's answer to a conversation. Raises `SidecarError`."""
        from pipimem.sidecar.model import ModelAssistant

        if not isinstance(self.chosen, ModelAssistant):
            raise SidecarError(f"{self.chosen.name} cannot talk; choose a model with --model.")
        return await self.chosen.chat(messages, Call(channel, secrets.token_hex(6), timeout))
