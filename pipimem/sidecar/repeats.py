"""The guard against loops: a question that was just answered and accepted is not paid for again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipimem.notes.usage import Usage
from pipimem.sidecar.door import Turn

# Thoughts that change memory when their answer is accepted: the same question again means that nothing came of it.
# A person may well say the same twice, so `chat` is not among them.
_MUST_PROGRESS = frozenset({"consolidate", "refresh", "tidy", "fold"})
# Something outside may have been mended by then (a full disk): 24 needless questions a day at most.
_PATIENCE = timedelta(hours=1)
# Within a process the second time is one too many. Another process may be a person who looked first (a dry run) and
# then did it, or took something back: there it is the third.
_ENOUGH = 2
_OWN = 2
# Enough to tell two prompts of one channel and task apart.
_HASH_BYTES = 8


def prompt_hash(turns: Sequence[Turn]) -> str:
    """A short name of what is asked."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for turn in turns:
        digest.update(f"{turn.role}\0{turn.content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Accepted:
    prompt: str
    when: datetime
    times: int


@dataclass(slots=True)
class Repeats:
    """The last accepted question of each channel and task, and when."""

    _accepted: dict[tuple[str, str], _Accepted] = field(default_factory=dict)

    def count(self, usage: Usage, now: datetime, *, own: bool = False) -> None:
        """One more accepted answer; `own` if this process was given it."""
        if usage.outcome != "ok" or not usage.prompt or usage.task not in _MUST_PROGRESS:
            return
        key, weight = (usage.channel, usage.task), _OWN if own else 1
        last = self._accepted.get(key)
        times = (
            last.times
            if last and last.prompt == usage.prompt and now - last.when < _PATIENCE
            else 0
        )
        self._accepted[key] = _Accepted(usage.prompt, now, times + weight)

    def refusal(self, channel: str, task: str, prompt: str, now: datetime) -> str:
        """Why this must not be asked now; empty where it may."""
        last = self._accepted.get((channel, task))
        if (
            last is None
            or last.prompt != prompt
            or last.times < _ENOUGH
            or now - last.when >= _PATIENCE
        ):
            return ""
        when = last.when
        return (
            f"The same {task} of {channel} was answered and accepted at {when:%H:%M:%S} and nothing came of it: it is "
            f"not paid for again before {when + _PATIENCE:%H:%M:%S} unless the talk changes. `pipimem log` shows what "
            "was committed, `pipimem doctor` what stands in the way."
        )
