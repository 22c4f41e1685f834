"""The guard against loops: a prompt that was just answered and accepted is not paid for again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipimem.llm.request import PromptMessage
from pipimem.notes.usage import Usage

# Tasks that change memory when their answer is accepted: the same prompt again means that nothing
# came of it. A person may well say the same twice, so `chat` is not among them.
_MUST_PROGRESS = frozenset({"consolidate", "refresh", "tidy", "fold"})
# Something outside may be fixed by then (a full disk): 24 needless requests a day at most.
_WINDOW = timedelta(hours=1)
# Within a process the second time is one too many. Another process may be a person who looked first
# (a dry run) and then did it, or took something back: there it is the third.
_LIMIT = 2
_OWN_WEIGHT = 2
# Enough to tell two prompts of one channel and task apart.
_HASH_BYTES = 8


def prompt_hash(messages: Sequence[PromptMessage]) -> str:
    """A hash of all roles and contents, 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for message in messages:
        digest.update(f"{message.role}\0{message.content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Accepted:
    prompt: str
    when: datetime
    weight: int

    def covers(self, prompt: str, now: datetime) -> bool:
        """Whether it is the same prompt, less than an hour ago."""
        return self.prompt == prompt and now - self.when < _WINDOW


@dataclass(slots=True)
class LoopGuard:
    """The last prompt of each channel and task whose answer was accepted, and when."""

    _accepted: dict[tuple[str, str], _Accepted] = field(default_factory=dict)

    def count(self, usage: Usage, now: datetime, *, own: bool = False) -> None:
        """Takes in one line of the usage ledger; `own` if this process made the request."""
        if usage.outcome != "ok" or not usage.prompt or usage.task not in _MUST_PROGRESS:
            return
        key = usage.channel, usage.task
        weight = _OWN_WEIGHT if own else 1
        last = self._accepted.get(key)
        if last is not None and last.covers(usage.prompt, now):
            weight += last.weight
        self._accepted[key] = _Accepted(usage.prompt, now, weight)

    def refusal(self, channel: str, task: str, prompt: str, now: datetime) -> str:
        """Why this prompt must not be sent now, in words; empty if it may."""
        last = self._accepted.get((channel, task))
        if last is None or not last.covers(prompt, now) or last.weight < _LIMIT:
            return ""
        again = last.when + _WINDOW
        return (
            f"The same {task} of {channel} was answered and accepted at {last.when:%H:%M:%S} and "
            f"nothing came of it: it is not paid for again before {again:%H:%M:%S} unless the "
            "talk changes. `pipimem log` shows what was committed, `pipimem doctor` what stands "
            "in the way."
        )
