"""The models of a workspace: the assistant that asks them through litellm, and their budget."""

from __future__ import annotations

import logging
from functools import partial

from anyio import to_thread

from pipimem.clock import Clock
from pipimem.llm import litellm_client
from pipimem.llm.admission import Admission
from pipimem.llm.client import RetryingClient
from pipimem.observer import Observers
from pipimem.settings import Settings
from pipimem.sidecar.model import ModelAssistant
from pipimem.sidecar.prompts import Prompts
from pipimem.store.workspace import WorkspaceStore

_log = logging.getLogger("pipimem")


class Models:
    """`admission` is the budget of all model and embedding calls of a workspace."""

    def __init__(
        self, store: WorkspaceStore, settings: Settings, clock: Clock, observers: Observers
    ) -> None:
        self._settings, self._clock = settings, clock
        self._prompts = store.root / "prompts"
        self.admission = Admission(
            store.usage_store, settings.budget, clock, _log.warning, observers
        )

    def assistant(self, model: str) -> ModelAssistant:
        """Return the assistant that asks `model`, then the fallbacks that the settings name."""
        provider = litellm_client.LiteLLM()
        client = RetryingClient(
            (model, *self._settings.model.fallbacks),
            provider,
            partial(self.admission.admit, price=provider.price),
            self._clock.monotonic,
            self._settings.model.concurrency,
        )
        return ModelAssistant(client, Prompts(self._prompts))

    async def load_library(self) -> None:
        """Load litellm, which takes seconds. Raises `ModelUnavailable` if it cannot be loaded."""
        await to_thread.run_sync(litellm_client.load_litellm, abandon_on_cancel=True)
