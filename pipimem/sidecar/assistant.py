"""The sidecar that asks models: prompt and schema of a task out, its answer parsed strictly or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.errors import AnswerRefused
from pipimem.notes.message import Message
from pipimem.sidecar.asking import Asking
from pipimem.sidecar.contracts import Answer, Call, Consolidate, Refresh, Task, task_name
from pipimem.sidecar.door import Ask, Schema, Turn
from pipimem.sidecar.prompts import Prompts
from pipimem.sidecar.rendering import placeholder_values
from pipimem.sidecar.wire.tasks import WIRES

_CHAT_TOKENS = 4000


@dataclass(frozen=True, slots=True)
class ModelAssistant:
    """`Assistant` on the models of `asking`, in order."""

    asking: Asking
    prompts: Prompts

    @property
    def name(self) -> str:
        """The first model's name."""
        return self.asking.models[0]

    @property
    def paid(self) -> bool:
        """A thought may cost something."""
        return True

    async def answer(self, task: Task, call: Call) -> Answer:
        """The first acceptable answer. Raises `SidecarError` when no model gave one."""
        wire, name = WIRES[type(task)], task_name(task)
        system, user = self.prompts.rendered(name, placeholder_values(task, call.channel))
        # Talk of several messages can be thought about in smaller windows.
        shrinks = isinstance(task, Consolidate | Refresh) and len(task.window) > 1
        turns = (Turn("system", system), Turn("user", user))
        question = _asked(name, call, turns, wire.max_tokens, wire.schema(task))
        return await self.asking.answered(
            question, lambda text: wire.parsed(text, task), shrinks=shrinks
        )

    async def chat(self, messages: Sequence[Message], call: Call) -> str:
        """A bot's reply to a conversation, in the ledger as `chat`; tool messages count as the user's."""
        turns = tuple(
            Turn(
                message.role if message.role in {"system", "assistant"} else "user", message.content
            )
            for message in messages
        )
        return await self.asking.answered(_asked("chat", call, turns, _CHAT_TOKENS), _spoken)


def _asked(
    task: str, call: Call, turns: tuple[Turn, ...], max_tokens: int, schema: Schema | None = None
) -> Ask:
    """The request for whichever model is asked."""
    return Ask("", turns, call.timeout, max_tokens, schema, call.channel, task, call.correlation)


def _spoken(text: str) -> str:
    if not text.strip():
        raise AnswerRefused("the reply is empty")
    return text
