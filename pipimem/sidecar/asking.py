"""One question to models in their order: retries, fallbacks and a second chance."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio

from pipimem.errors import AnswerRefused, ModelTimeout, ModelUnavailable, SidecarError
from pipimem.sidecar.door import (
    AnswerCut,
    Ask,
    Completion,
    ContextOverflow,
    Door,
    ModelBusy,
    ParameterRefused,
    Turn,
)
from pipimem.sidecar.metering import Begin

T = TypeVar("T")

# A busy model is asked three times, about 0.5 and 1 s apart: a fourth would only add to the load.
_TRIES = 3
_FIRST_WAIT = 0.5
# Everything a model can refuse to take: two formats, two names of the room, temperature, system, and two guesses.
_MOST_RESHAPED = 8
# While another model could still step in, one model may not use up all the time.
_SHARE_OF_TIME = 0.6
# We end a moment before the caller's own deadline, so that the ledger says what happened.
_OF_THE_CALLERS_TIME = 0.97
_REASON_CHARS = 200
_AGAIN = "Your last answer was refused: {reason}\nAnswer anew, with the whole answer."


@dataclass(slots=True)
class Asking:
    """Questions to `models`, in their order, through a door; `begin` lets each attempt out and records it.

    `concurrency` bounds the requests under way at a time, `monotonic` gives seconds, `chance` numbers from 0 to 1.
    """

    models: Sequence[str]
    door: Door
    begin: Begin
    monotonic: Callable[[], float]
    concurrency: int = 4
    chance: Callable[[], float] = random.random
    _places: anyio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.models = tuple(dict.fromkeys(self.models))
        self._places = anyio.Semaphore(self.concurrency)

    async def answered(
        self, question: Ask, parse: Callable[[str], T], *, shrinks: bool = False
    ) -> T:
        """The first answer that `parse` accepts, within the question's timeout; its model does not matter.

        Raises what the last model failed with. A prompt too long for one model is not sent to the next one where it
        `shrinks`: the caller can ask about less.
        """
        end = self.monotonic() + question.timeout * _OF_THE_CALLERS_TIME
        await self._take_place(end)
        last: SidecarError = ModelTimeout(f"No time was left to ask {self.models[0]}.")
        try:
            for model in self.models:
                try:
                    return await self._asked_twice(question, model, self._until(model, end), parse)
                except ContextOverflow as reason:
                    if shrinks:
                        raise
                    last = reason
                except (ModelUnavailable, ModelTimeout, AnswerRefused) as reason:
                    last = reason
                if self._left(end) <= 0:
                    break
            raise last
        finally:
            self._places.release()

    async def _take_place(self, end: float) -> None:
        """Waits for a place among those who may ask at a time, which costs the question's own time."""
        try:
            with anyio.fail_after(max(0.0, self._left(end))):
                await self._places.acquire()
        except TimeoutError as reason:
            raise ModelTimeout(
                f"No place was free to ask {self.models[0]}: raise concurrency in pipimem.toml, [model]."
            ) from reason

    async def _asked_twice(
        self, question: Ask, model: str, until: float, parse: Callable[[str], T]
    ) -> T:
        """The answer; one that was refused is asked for once more, with the reason."""
        try:
            return await self._patiently(question, model, until, parse)
        except AnswerRefused as reason:
            if self._left(until) <= 0:
                raise
            again = Turn(
                "user",
                f"{question.turns[-1].content}\n\n{_AGAIN.format(reason=str(reason)[:_REASON_CHARS])}",
            )
            room = question.max_tokens * (2 if isinstance(reason, AnswerCut) else 1)
            anew = replace(question, turns=(*question.turns[:-1], again), max_tokens=room)
            return await self._patiently(anew, model, until, parse)

    async def _patiently(
        self, question: Ask, model: str, until: float, parse: Callable[[str], T]
    ) -> T:
        """The answer of a model that may be busy for a moment, or want to be asked in another way."""
        tries, reshaped = 1, 0
        while True:
            try:
                return await self._attempt(question, model, until, parse)
            except ParameterRefused:
                reshaped += 1
                if reshaped > _MOST_RESHAPED:
                    raise
                continue
            except ModelBusy as busy:
                wait = self._wait(tries, busy)
                if tries == _TRIES or wait >= self._left(until):
                    raise
            await anyio.sleep(wait)
            tries += 1

    def _wait(self, tries: int, busy: ModelBusy) -> float:
        """Seconds until the next try; a provider's own word is kept, and nobody comes back at the same moment."""
        backoff = _FIRST_WAIT * float(2 ** (tries - 1)) * (0.5 + self.chance())
        if busy.retry_after is None:
            return backoff
        return max(backoff, busy.retry_after + _FIRST_WAIT * self.chance())

    async def _attempt(
        self, question: Ask, model: str, until: float, parse: Callable[[str], T]
    ) -> T:
        timeout = self._left(until)
        if timeout <= 0:
            raise ModelTimeout(f"No time was left to ask {model} within {question.timeout:.0f} s.")
        async with await self.begin(replace(question, model=model, timeout=timeout)) as attempt:
            attempt.completion = await self.door.complete(attempt.ask)
            return parse(_whole(attempt.completion, model))

    def _until(self, model: str, end: float) -> float:
        """When a model must have answered, all its tries together."""
        return end if model == self.models[-1] else end - self._left(end) * (1 - _SHARE_OF_TIME)

    def _left(self, until: float) -> float:
        return until - self.monotonic()


def _whole(completion: Completion, model: str) -> str:
    """The text of an answer that came to its end."""
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
