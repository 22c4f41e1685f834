"""The client that asks models in their order: retries, fallbacks and a second chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from msgspec.structs import replace

from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.llm.json_object import extract_json
from pipimem.llm.metering import Admit
from pipimem.llm.request import (
    AnswerCut,
    AnswerSchema,
    Completion,
    ContextOverflow,
    ModelBusy,
    ModelClient,
    ModelRequest,
    ParameterRefused,
    PromptMessage,
)
from pipimem.llm.strict_decoding import amended

T = TypeVar("T")

# A busy model is asked three times, about 0.5 and 1 s apart: a fourth would only add to the load.
_TRIES = 3
_FIRST_WAIT = 0.5
# Everything a model can refuse to take: two formats, two names of `max_tokens`, temperature, the
# system role, and two guesses.
_MOST_REFUSED_PARAMETERS = 8
# While another model could still step in, one model may not use up all the time.
_SHARE_OF_TIME = 0.6
# We end a moment before the caller's own deadline, so that the ledger says what happened.
_SHARE_OF_TIMEOUT = 0.97
_REASON_CHARS = 200
_AGAIN = "Your last answer was refused: {reason}\nAnswer anew, with the whole answer."
# The model reads its answer again, and writes only what is wrong: tokens out cost most.
_CORRECT = (
    'Your last answer was refused: {reason}\nAnswer with one JSON object that has "{field}" alone, '
    "whole and corrected; the rest of your answer stands."
)


@dataclass(slots=True)
class RetryingClient:
    """Asks `models` in their order through `client`; `admit` lets each attempt out and records it.

    `concurrency` bounds the requests under way at a time, `monotonic` gives seconds, `chance`
    numbers from 0 to 1.
    """

    models: Sequence[str]
    client: ModelClient
    admit: Admit
    monotonic: Callable[[], float]
    concurrency: int = 4
    chance: Callable[[], float] = random.random
    _slots: anyio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.models = tuple(dict.fromkeys(self.models))
        self._slots = anyio.Semaphore(self.concurrency)

    async def ask(
        self, request: ModelRequest, parse: Callable[[str], T], *, shrinks: bool = False
    ) -> T:
        """The first answer that `parse` accepts, within the request's timeout; `model` is ignored.

        Raises what the last model failed with. A prompt too long for one model is not sent to the
        next one where it `shrinks`: the caller can ask about less.
        """
        deadline = self.monotonic() + request.timeout * _SHARE_OF_TIMEOUT
        await self._acquire_slot(deadline)
        last: SidecarError = ModelTimeout(f"No time was left to ask {self.models[0]}.")
        try:
            for model in self.models:
                try:
                    own_deadline = self._deadline_of(model, deadline)
                    return await self._ask_model(request, model, own_deadline, parse)
                except ContextOverflow as reason:
                    if shrinks:
                        raise
                    last = reason
                except (ModelUnavailable, ModelTimeout, AnswerRefused) as reason:
                    last = reason
                if self._left(deadline) <= 0:
                    break
            raise last
        finally:
            self._slots.release()

    async def _acquire_slot(self, deadline: float) -> None:
        """Waits until fewer than `concurrency` requests are under way. Raises `ModelTimeout`."""
        try:
            with anyio.fail_after(max(0.0, self._left(deadline))):
                await self._slots.acquire()
        except TimeoutError as reason:
            raise ModelTimeout(
                f"Too many requests are under way to ask {self.models[0]}: raise concurrency in "
                "pipimem.toml, [model]."
            ) from reason

    async def _ask_model(
        self, request: ModelRequest, model: str, deadline: float, parse: Callable[[str], T]
    ) -> T:
        """The answer of one model.

        It may be busy for a moment, refuse parameters, and give one answer that is refused.
        """
        current, tries, refused_parameters = request, 1, 0
        answers = _Answers(parse)
        while True:
            try:
                return await self._attempt(current, model, deadline, answers.parsed)
            except ParameterRefused:
                refused_parameters += 1
                if refused_parameters > _MOST_REFUSED_PARAMETERS:
                    raise
            except ModelBusy as busy:
                wait = self._wait(tries, busy)
                if tries == _TRIES or wait >= self._left(deadline):
                    raise
                tries += 1
                await anyio.sleep(wait)
            except AnswerRefused as reason:
                if current is not request or self._left(deadline) <= 0:
                    raise
                current, tries = answers.asked_again(request, reason), 1

    def _wait(self, tries: int, busy: ModelBusy) -> float:
        """Seconds until the next try, with jitter; at least as long as the provider asks for."""
        backoff = _FIRST_WAIT * float(2 ** (tries - 1)) * (0.5 + self.chance())
        if busy.retry_after is None:
            return backoff
        return max(backoff, busy.retry_after + _FIRST_WAIT * self.chance())

    async def _attempt(
        self, request: ModelRequest, model: str, deadline: float, parse: Callable[[str], T]
    ) -> T:
        timeout = self._left(deadline)
        if timeout <= 0:
            raise ModelTimeout(f"No time was left to ask {model} within {request.timeout:.0f} s.")
        async with await self.admit(replace(request, model=model, timeout=timeout)) as attempt:
            attempt.completion = await self.client.complete(attempt.request)
            return parse(_complete_text(attempt.completion, model))

    def _deadline_of(self, model: str, deadline: float) -> float:
        """When a model must have answered, all its tries together."""
        if model == self.models[-1]:
            return deadline
        return deadline - self._left(deadline) * (1 - _SHARE_OF_TIME)

    def _left(self, deadline: float) -> float:
        return deadline - self.monotonic()


@dataclass(slots=True)
class _Answers(Generic[T]):
    """The answers of one model to one request: the second may correct a field of the first."""

    parse: Callable[[str], T]
    first: str = ""
    field: str = ""

    def parsed(self, answer: str) -> T:
        """What `parse` makes of an answer, or of the first with this correction."""
        if self.field:
            return self.parse(amended(self.first, self.field, answer))
        self.first = answer
        return self.parse(answer)

    def asked_again(self, request: ModelRequest, reason: AnswerRefused) -> ModelRequest:
        """The request with the reason why its answer was refused.

        Where one field is wrong, the answer stands in it, and only that field is asked for. After
        an answer that thinking cut off before its first word, `max_tokens` is doubled.
        """
        why, self.field = str(reason)[:_REASON_CHARS], reason.field
        *before, last = request.messages
        if self.field:
            again = _CORRECT.format(reason=why, field=self.field)
            messages = (
                *request.messages,
                PromptMessage("assistant", extract_json(self.first)),
                PromptMessage("user", again),
            )
            return replace(request, messages=messages, schema=_part_of(request.schema, self.field))
        asked = f"{last.content}\n\n{_AGAIN.format(reason=why)}"
        max_tokens = request.max_tokens * (2 if isinstance(reason, AnswerCut) else 1)
        messages = (*before, PromptMessage("user", asked))
        return replace(request, messages=messages, max_tokens=max_tokens)


def _part_of(schema: AnswerSchema | None, field: str) -> AnswerSchema | None:
    """The schema of an object that has one field of the answer alone."""
    if schema is None:
        return None
    match schema.schema:
        case {"properties": {**fields}} if field in fields:
            part = {**schema.schema, "properties": {field: fields[field]}, "required": [field]}
            return replace(schema, schema=part)
    return schema


def _complete_text(completion: Completion, model: str) -> str:
    """The text of an answer that came to its end; raises `AnswerRefused` otherwise."""
    match completion.finish_reason:
        case "length" if not completion.text.strip():
            raise AnswerCut(f"{model} reached the token limit before its first word; think less.")
        case "length":
            raise AnswerRefused(f"{model} was cut off at the token limit; answer shorter.")
        case "content_filter":
            raise AnswerRefused(f"The provider's filter stopped {model}.")
    if completion.refusal and not completion.text.strip():
        raise AnswerRefused(f"{model} refused to answer: {completion.refusal}")
    return completion.text
