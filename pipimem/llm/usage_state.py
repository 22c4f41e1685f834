"""The usage of a day: tokens and dollars spent, circuit breakers, the guard against loops."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from pipimem.errors import BudgetSpent
from pipimem.llm.request import Price, PromptMessage
from pipimem.notes.usage import Reservation, Usage
from pipimem.settings import BudgetSettings
from pipimem.text.dates.bounds import later

# A failure weighs four, a refused answer one. Twenty are five failures in a row: a task tries three
# times, so one bad minute of a provider does not open the breaker, two tasks in a row do. Or twenty
# refused answers: one window that a model cannot cope with is halved and set aside in fewer; a
# model that gives twenty useless answers in a row over all channels is no use to anybody.
_FAILURE_LIMIT = 20
_WEIGHTS = {"timeout": 4, "error": 4, "refused": 1, "denied": _FAILURE_LIMIT}
# The first pause lets a provider restart; the longest still finds within the hour that it is back.
_FIRST_PAUSE = timedelta(minutes=1)
_LONGEST_PAUSE = timedelta(hours=1)


def circuit_name(model: str, task: str) -> str:
    """The name of the breaker a request is under: the model's own, or its separate one for rerank.

    A rerank has seconds where other tasks have minutes, so its failures say little about them.
    """
    return f"{model} (rerank)" if task == "rerank" else model


class CircuitState(Struct, frozen=True):
    """The weight of a model's failures since its last accepted answer; blocked before `until`.

    `is_denied` says that the key was the last reason.
    """

    failures: int = 0
    pause: timedelta = timedelta()
    until: datetime | None = None
    reason: str = ""
    is_denied: bool = False

    @property
    def tripped(self) -> bool:
        """Whether it failed too often; after `until` one request at a time may probe it."""
        return self.until is not None

    def open_at(self, now: datetime) -> bool:
        """Whether no request may be sent."""
        return self.until is not None and now < self.until


def updated(state: CircuitState, usage: Usage, now: datetime) -> CircuitState:
    """The state after an attempt that ended at `now`.

    Outcomes that say nothing about the model (such as `cancelled`) leave it as it is, and so do
    requests that were already under way when the breaker opened.
    """
    if usage.outcome == "ok":
        return CircuitState()
    weight = _WEIGHTS.get(usage.outcome, 0)
    if not weight or state.open_at(now):
        return state
    failures = min(state.failures + weight, _FAILURE_LIMIT)
    counted = replace(
        state, failures=failures, reason=usage.reason, is_denied=usage.outcome == "denied"
    )
    if failures < _FAILURE_LIMIT:
        return counted
    pause = min(state.pause * 2 or _FIRST_PAUSE, _LONGEST_PAUSE)
    return replace(counted, pause=pause, until=later(now, pause))


def formatted(circuit: str, state: CircuitState, now: datetime) -> str:
    """The state in words, for errors and `status`; the last failure's reason comes first."""
    if state.until is None:
        return f"{circuit}: fine"
    if now < state.until:
        until = f"{state.until:%H:%M:%S}"
        return f"{state.reason} ({circuit} {why(state)} and is left alone until {until}.)"
    return f"{state.reason} ({circuit} {why(state)}; one request may try whether it is back.)"


def why(state: CircuitState) -> str:
    """Why it is left alone, after the name of the model."""
    return "has no key that is taken" if state.is_denied else "failed too often"


# Tasks that change memory when their answer is accepted: the same prompt again means that nothing
# came of it. A person may well say the same twice, so `chat` is not among them.
_MUST_PROGRESS = frozenset({"consolidate", "refresh", "tidy", "fold"})
# Something outside may be fixed by then (a full disk): 24 needless requests a day at most.
_WINDOW = timedelta(hours=1)
# Within a process the second time is one too many. Another process may be a person who looked first
# (a dry run) and then did it, or took something back: there it is the third.
_LOOP_LIMIT = 2
_OWN_WEIGHT = 2
# Enough to tell two prompts of one channel and task apart.
_HASH_BYTES = 8


def prompt_hash(messages: Sequence[PromptMessage]) -> str:
    """A hash of all roles and contents, 16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for message in messages:
        digest.update(f"{message.role}\0{message.content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class _Accepted(Struct, frozen=True):
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
        if last is None or not last.covers(prompt, now) or last.weight < _LOOP_LIMIT:
            return ""
        again = last.when + _WINDOW
        return (
            f"The same {task} of {channel} was answered and accepted at {last.when:%H:%M:%S} and "
            f"nothing came of it: it is not paid for again before {again:%H:%M:%S} unless the "
            "talk changes. `pipimem log` shows what was committed, `pipimem doctor` what stands "
            "in the way."
        )


# A shorter answer would most often be cut, refused and paid for nothing; a usual one takes 300 to
# 1,500 tokens.
LEAST_ANSWER = 1000
# Above this share of a budget its operator should know.
WARN_AT = 0.8


class Amount(Struct, frozen=True):
    """Tokens, and US dollars as far as prices are known."""

    tokens: float = 0
    dollars: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.tokens + other.tokens, self.dollars + other.dollars)


class Budget(Struct, frozen=True):
    """One limit of a day and what was used of it; `share` is 1.0 when it is used up, or 0 large."""

    whose: str
    limit: Amount
    spent: Amount

    @property
    def share(self) -> float:
        """The larger of the shares of tokens and dollars."""
        pairs = (
            (self.spent.tokens, self.limit.tokens),
            (self.spent.dollars, self.limit.dollars),
        )
        return max(spent / limit if limit else 1.0 for spent, limit in pairs)

    def formatted(self) -> str:
        """The budget in words: `the workspace: 41,000 of 50,000 tokens, $0.0300 of $1.00`."""
        parts = []
        if self.limit.tokens != inf:
            parts.append(f"{self.spent.tokens:,.0f} of {self.limit.tokens:,.0f} tokens")
        if self.limit.dollars != inf:
            parts.append(f"${self.spent.dollars:,.4f} of ${self.limit.dollars:,.2f}")
        return f"{self.whose}: {', '.join(parts) or 'no limit'}"


_NOTHING = Amount()


@dataclass(slots=True)
class UsageState:
    """All that decides whether a request may be sent, made of ledger lines alone.

    So a restart changes nothing. `total` and `channels` are what the local `day` has used, in all
    and by channel; `circuits` are breakers by name.
    """

    settings: BudgetSettings
    day: date
    total: Amount = _NOTHING
    channels: dict[str, Amount] = field(default_factory=dict)
    circuits: dict[str, CircuitState] = field(default_factory=dict)
    loop_guard: LoopGuard = field(default_factory=LoopGuard)

    @classmethod
    def from_ledger(
        cls, settings: BudgetSettings, now: datetime, lines: Iterable[Usage] = ()
    ) -> UsageState:
        """The state on the day of `now`, in the local time of `now`."""
        state = cls(settings, now.date())
        for usage in lines:
            state.count(usage, now)
        return state

    def count(self, usage: Usage, now: datetime, *, own: bool = False) -> None:
        """Takes in one more line of the ledger; lines come in their order.

        `own` if this process made the request. Lines of other days use up no budget.
        """
        when = ended_at(usage, now)
        if when.date() == self.day:
            amount = Amount(usage.tokens, usage.dollars)
            self.total += amount
            self.channels[usage.channel] = self.channels.get(usage.channel, _NOTHING) + amount
        circuit = circuit_name(usage.model, usage.task)
        before = self.circuits.get(circuit, CircuitState())
        self.circuits[circuit] = updated(before, usage, when)
        self.loop_guard.count(usage, when, own=own)

    def budgets(self, channel: str, reserved: Iterable[Reservation] = ()) -> tuple[Budget, Budget]:
        """The workspace's budget and the channel's; what is `reserved` counts as spent."""
        total, own = self.total, self.channels.get(channel, _NOTHING)
        for reservation in reserved:
            amount = Amount(reservation.tokens, reservation.cost or 0.0)
            total += amount
            if reservation.channel == channel:
                own += amount
        limits = self.settings
        whole = Amount(limits.tokens_per_day, limits.cost_per_day)
        part = Amount(limits.channel_tokens_per_day, limits.channel_cost_per_day)
        return Budget("the workspace", whole, total), Budget(f"channel {channel}", part, own)

    def allow_probes(self, now: datetime) -> None:
        """Lets each blocked model be tried at once: after a restart the cause is often fixed."""
        for circuit, state in self.circuits.items():
            if state.until is not None:
                self.circuits[circuit] = replace(state, until=min(state.until, now))

    def start_day(self, now: datetime) -> None:
        """Sets what is spent to nothing if `now` is on another day."""
        if self.day != now.date():
            self.day, self.total, self.channels = now.date(), _NOTHING, {}


def ended_at(usage: Usage, now: datetime) -> datetime:
    """When an attempt ended, in the offset of `now`; `now` itself if its time is unreadable."""
    try:
        return datetime.fromisoformat(usage.time).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return now


def midnight(now: datetime) -> datetime:
    """When the local day of `now` began."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def has_cost_limit(settings: BudgetSettings) -> bool:
    """Whether there is a limit in dollars, so that prices matter."""
    return min(settings.cost_per_day, settings.channel_cost_per_day) != inf


def has_token_limit(settings: BudgetSettings) -> bool:
    """Whether there is a limit in tokens, which also bounds models without a price."""
    return min(settings.tokens_per_day, settings.channel_tokens_per_day) != inf


def granted_tokens(
    budgets: Iterable[Budget],
    tokens_in: int,
    max_tokens: int,
    price: Price | None,
    meanwhile: str = "the offline rules take over",
) -> int:
    """How many tokens an answer may take: `max_tokens`, or the fewer that every budget still has.

    Raises `BudgetSpent` where a prompt of `tokens_in` and a usable answer do not fit; the error
    says what happens `meanwhile`.
    """
    granted: float = max_tokens
    for budget in budgets:
        left = _tokens_left(budget, tokens_in, price)
        if left < min(max_tokens, LEAST_ANSWER):
            raise BudgetSpent(_refusal(budget, tokens_in, meanwhile))
        granted = min(granted, left)
    return int(granted)


def _tokens_left(budget: Budget, tokens_in: int, price: Price | None) -> float:
    """The tokens one budget leaves for an answer; negative where not even the prompt fits."""
    tokens = budget.limit.tokens - budget.spent.tokens - tokens_in
    if budget.limit.dollars == inf or price is None:
        return tokens
    dollars = budget.limit.dollars - budget.spent.dollars - tokens_in * price.prompt
    if not price.answer:
        return tokens if dollars >= 0 else -1
    return min(tokens, dollars / price.answer)


def _refusal(budget: Budget, tokens_in: int, meanwhile: str) -> str:
    why = f"has no room for a request of {tokens_in:,} tokens and its answer"
    if budget.share >= 1:
        why = "is used up"
    return (
        f"Today's budget of {budget.formatted()} (requests under way included) {why}. "
        f"Until midnight {meanwhile}; raise the limit in pipimem.toml, [budget], or wait."
    )
