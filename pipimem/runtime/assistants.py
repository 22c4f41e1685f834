"""Who answers a workspace's tasks: the host's assistant, models in their budget, offline rules."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pipimem.clock import Clock
from pipimem.errors import BudgetSpent, SidecarError
from pipimem.notes.message import Message
from pipimem.observer import Observers
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.sidecar.guarded import GuardedAssistant
from pipimem.sidecar.rules import Offline
from pipimem.sidecar.tasks import Answer, Assistant, Call, Rerank, Task
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission
    from pipimem.runtime.models import Models
    from pipimem.sidecar.model import ModelAssistant

_OFFLINE = "offline"


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
        self._made_models: Models | None = None
        self._making_models = threading.Lock()
        self._model: ModelAssistant | None = None
        if given is not None:
            self.chosen: Assistant = GuardedAssistant(given)
        else:
            self.chosen = self._of_model(model or settings.model.name)

    def _of_model(self, model: str) -> Assistant:
        if model == _OFFLINE:
            return Offline(self._vocabulary.words)
        self._model = self._models().assistant(model)
        return self._model

    def with_fallback(self) -> Assistant:
        """The assistant of a channel; the offline rules take over when the budget is spent."""
        if not self.chosen.paid:
            return self.chosen
        return Fallback(self.chosen, Offline(self._vocabulary.words))

    def admission(self) -> Admission:
        """The budget of all model and embedding calls; made when first asked for."""
        return self._models().admission

    @property
    def asks_litellm(self) -> bool:
        """Whether a model is asked through litellm."""
        return self._model is not None

    async def load_litellm(self) -> None:
        """Load litellm, which takes seconds. Raises `ModelUnavailable` without it."""
        await self._models().load_library()

    def _models(self) -> Models:
        from pipimem.runtime.models import Models  # 30 ms that a host without a model saves

        with self._making_models:
            if self._made_models is None:
                self._made_models = Models(
                    self._store, self._settings, self._clock, self._observers
                )
            return self._made_models

    async def reply(self, messages: Sequence[Message], channel: str, timeout: float) -> str:
        """A model's answer to a conversation. Raises `SidecarError`."""
        if self._model is None:
            raise SidecarError(f"{self.chosen.name} cannot talk; choose a model with --model.")
        return await self._model.chat(messages, Call(channel, secrets.token_hex(6), timeout))


class Fallback(Struct):
    """`Assistant` of one channel: `model`, or `rules` for a task that no budget holds.

    `name` is that of the one that answered last, and goes into the change with what is committed:
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
