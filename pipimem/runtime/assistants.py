"""Who answers a workspace's tasks: the host's assistant, models in their budget, offline rules."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pipimem.clock import Clock
from pipimem.errors import BudgetSpent, SidecarError
from pipimem.notes.message import Message
from pipimem.observer import Observers
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.guarded import GuardedAssistant
from pipimem.sidecar.tasks import Answer, Assistant, Call, Rerank, Task
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
        observers: Observers,
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._vocabulary, self._observers = vocabulary, observers
        self._made_admission: Admission | None = None
        self._making_admission = threading.Lock()
        if given is not None:
            self.chosen: Assistant = GuardedAssistant(given)
        else:
            self.chosen = self._of_model(model or settings.model.name)
        self.asks_litellm = given is None and self.chosen.paid

    def _of_model(self, model: str) -> Assistant:
        if model == _OFFLINE:
            # Its tables of cues: only where the rules answer.
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
        from pipimem.sidecar.rules import Offline

        return Fallback(self.chosen, Offline(self._vocabulary.words))

    def admission(self) -> Admission:
        """The budget of all model and embedding calls; made when first asked for."""
        from pipimem.llm.admission import Admission

        with self._making_admission:
            if self._made_admission is None:
                usage_store, budget = self._store.usage_store, self._settings.budget
                self._made_admission = Admission(
                    usage_store, budget, self._clock, _log.warning, self._observers
                )
            return self._made_admission

    async def reply(self, messages: Sequence[Message], channel: str, timeout: float) -> str:
        """A model's answer to a conversation. Raises `SidecarError`."""
        from pipimem.sidecar.model import ModelAssistant

        if not isinstance(self.chosen, ModelAssistant):
            raise SidecarError(f"{self.chosen.name} cannot talk; choose a model with --model.")
        return await self.chosen.chat(messages, Call(channel, secrets.token_hex(6), timeout))


@dataclass(slots=True)
class Fallback:
    """`Assistant` of one channel: `model`, or `rules` for a task that no budget holds.

    `name` is that of the one that answered last, and goes into the journal with what is committed:
    a channel has one task at a time.
    """

    model: Assistant
    rules: Assistant
    _last: Assistant | None = None

    @property
    def name(self) -> str:
        """The name of the one that answered last."""
        return (self._last or self.model).name

    @property
    def paid(self) -> bool:
        """Whether the model costs something."""
        return self.model.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The model's answer, or that of the rules when the budget is spent; raises `SidecarError`.

        A `Rerank` goes to the model alone: it may run beside another task and commits nothing, and
        the local order is there without it.
        """
        if isinstance(task, Rerank):
            return await self.model.answer(task, call)
        self._last = self.model
        try:
            return await self.model.answer(task, call)
        except BudgetSpent:
            self._last = self.rules
            return await self.rules.answer(task, call)
