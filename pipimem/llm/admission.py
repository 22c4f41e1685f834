"""Admission of requests: none is sent unless the day's budgets hold all it may cost."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Protocol

import anyio
from anyio import to_thread
from msgspec.structs import replace

from pipimem.clock import Clock
from pipimem.errors import (
    BudgetSpent,
    ModelTimeout,
    ModelUnavailable,
    NoProgress,
    SidecarError,
    StoreError,
)
from pipimem.llm import usage_state
from pipimem.llm.metering import Attempt, abandoned
from pipimem.llm.request import ModelRequest, Price
from pipimem.llm.usage_state import (
    WARN_AT,
    UsageState,
    granted_tokens,
    has_cost_limit,
    has_token_limit,
    midnight,
    prompt_hash,
)
from pipimem.notes.usage import Reservation, Usage, UsageCursor
from pipimem.observer import Observers
from pipimem.settings import BudgetSettings
from pipimem.text.dates.bounds import later
from pipimem.text.token_count import estimate

# Our estimate is within 15 % for 95 of 100 texts; a reservation should rather be too large.
_MARGIN = 1.2
# What providers add around each message, in tokens.
_AROUND_A_MESSAGE = 5
# A living process has written its line this long after its request's deadline.
_GRACE = timedelta(minutes=1)
# The task of embedding requests in the ledger.
EMBED = "embed"


class LedgerTransaction(Protocol):
    """The usage ledger and the reservations while no other process writes them."""

    def fresh(self, cursor: UsageCursor) -> Sequence[Usage] | None:
        """Return the calls behind a cursor, which moves on; `None` where it fits no longer."""

    def append(self, usage: Usage) -> None: ...

    def held(self) -> Mapping[str, Reservation]: ...

    def place(self, hold: Reservation) -> str: ...

    def release(self, name: str) -> bool: ...


class SharedLedger(Protocol):
    """The usage ledger and the reservations of a workspace, shared with other processes."""

    def locked(self) -> AbstractContextManager[LedgerTransaction]:
        """Open the ledger for one transaction. Raises `StoreError`, with nothing written."""

    def record(self, name: str, usage: Usage | None) -> None:
        """Replace a reservation by the call it was made for. Raises `StoreError`."""


@dataclass(slots=True)
class Admission:
    """The budgets of a workspace: a reservation before each request, a line of the ledger after it.

    Reservations are on disk, so that processes on one workspace cannot overshoot together, and a
    request whose process was killed counts as spent. `warn` takes warnings.
    """

    ledger: SharedLedger
    settings: BudgetSettings
    clock: Clock
    warn: Callable[[str], None]
    observers: Observers = field(default_factory=Observers)
    # The state of the day, and how far it has read the ledger.
    _read: tuple[UsageState, UsageCursor] | None = None
    # Ended attempts that the disk refused, by their reservations, which count until then.
    _unwritten: dict[str, Usage | None] = field(default_factory=dict)
    _warned: set[tuple[str, str, str]] = field(default_factory=set)
    # The correlations of this process and day.
    _own: set[str] = field(default_factory=set)

    async def admit(
        self, request: ModelRequest, price: Callable[[str], Awaitable[Price | None]]
    ) -> Attempt:
        """What `admit_in_thread` gives, in a worker thread; the time it takes is the request's.

        `price` gives a model's price, `None` if unknown. Raises `ModelTimeout` if it takes longer
        than the request's timeout, and what `admit_in_thread` raises.
        """
        started = anyio.current_time()
        found: Price | None = None
        try:
            with anyio.fail_after(request.timeout):
                # This loads the provider's library, too: what never left is not in the ledger.
                found = await price(request.model)
        except TimeoutError as reason:
            raise ModelTimeout(
                f"{request.model} was not ready within {request.timeout:.0f} s."
            ) from reason
        left = request.timeout - (anyio.current_time() - started)
        request = replace(request, timeout=max(0.0, left))
        placed = Future[tuple[str, Attempt]]()
        with ExitStack() as undo:
            # asyncio's own `Task.cancel` does not wait for a thread, whatever shields there are:
            # the reservation is released now, or as soon as it is placed.
            undo.callback(
                placed.add_done_callback, lambda done: self._record(done.result()[0], None)
            )
            await to_thread.run_sync(lambda: placed.set_result(self._reserve(request, found)))
            undo.pop_all()
        return placed.result()[1]

    def admit_in_thread(self, request: ModelRequest, price: Price | None) -> Attempt:
        """The attempt, with `max_tokens` cut to what the budgets leave.

        May wait for the disk and for other processes. Raises `BudgetSpent`, `NoProgress`,
        `StoreError`, or `ModelUnavailable` where the circuit breaker is open.
        """
        return self._reserve(request, price)[1]

    def _reserve(self, request: ModelRequest, price: Price | None) -> tuple[str, Attempt]:
        """The name of the reservation, and the attempt."""
        prompt = ""
        # An embedder's question may be a few words: their unkeyed hash would tell who guesses them.
        if request.task != EMBED:
            prompt = prompt_hash(request.messages)
        tokens_in = prompt_tokens(request)
        late = dict(self._unwritten)
        refusal: SidecarError | None = None
        with self.ledger.locked() as ledger:
            now = self.clock.wall()
            _write_late(ledger, late)
            others = _under_way(ledger, now)
            state = self._current_state(ledger, now)
            try:
                _check_circuit(state, request, others, now)
                _check_progress(state, request, prompt, now)
                tokens_out = self._granted_tokens(state, request, tokens_in, price, others)
            except SidecarError as error:
                refusal = error  # raised behind the end of the transaction, which stands
            else:
                reservation = _reservation(request, now, tokens_in, tokens_out, price, prompt)
                name = ledger.place(reservation)
                self._own.add(request.correlation)
        for written in late:
            self._unwritten.pop(written, None)
        if refusal is not None:
            raise refusal
        granted = replace(request, max_tokens=tokens_out)
        record = partial(self._record, name)
        return name, Attempt(granted, reservation, price, self.clock, record, self.observers)

    def _record(self, name: str, usage: Usage | None) -> None:
        """Replaces a reservation by the ledger line of its attempt, if any; called in threads.

        Waits for the disk. Raises `StoreError`, and writes the line before the next reservation.
        """
        try:
            self.ledger.record(name, usage)
        except StoreError:
            self._unwritten[name] = usage
            raise

    # ── within one transaction of the ledger, in a thread ─────────────────────────────────────

    def _current_state(self, ledger: LedgerTransaction, now: datetime) -> UsageState:
        """The state with every line that any process wrote until now."""
        fresh = ledger.fresh(self._read[1]) if self._read else None
        if self._read is None or fresh is None:
            # At a start, or where the database is another one than before.
            cursor = UsageCursor(midnight(now))
            state = UsageState.from_ledger(self.settings, now, ledger.fresh(cursor) or ())
            state.allow_probes(now)
            self._read = state, cursor
            return state
        state, _ = self._read
        if state.day != now.date():
            self._own.clear()
        state.start_day(now)
        for usage in fresh:
            state.count(usage, now, own=usage.correlation in self._own)
        return state

    def _granted_tokens(
        self,
        state: UsageState,
        request: ModelRequest,
        tokens_in: int,
        price: Price | None,
        others: Sequence[Reservation],
    ) -> int:
        """The tokens that the budgets allow for the answer. Raises `BudgetSpent`."""
        # What is embedded for all channels together counts for the workspace's budget alone.
        limits = 2 if request.channel else 1
        day = str(state.day)
        for budget in state.budgets(request.channel)[:limits]:
            if budget.share >= WARN_AT:
                text = f"{budget.share:.0%} of today's budget of {budget.formatted()}"
                self._warn_once(day, budget.whose, "warned", text)
        try:
            self._check_price(request.model, price)
            budgets = state.budgets(request.channel, others)[:limits]
            if request.task == EMBED:
                meanwhile = "recall goes by words alone"
                return granted_tokens(budgets, tokens_in, request.max_tokens, price, meanwhile)
            return granted_tokens(budgets, tokens_in, request.max_tokens, price)
        except BudgetSpent as spent:
            # By what comes before the figures: one line for the budget, not one for each of the
            # 20,000 channels it stops.
            self._warn_once(day, str(spent).partition(":")[0], "spent", str(spent))
            raise

    def _check_price(self, model: str, price: Price | None) -> None:
        """Raises `BudgetSpent` where the only limits are in dollars and the price is unknown."""
        if price is None and has_cost_limit(self.settings) and not has_token_limit(self.settings):
            raise BudgetSpent(
                f"{model} has no known price, so a budget in dollars alone cannot limit it: set "
                "tokens_per_day in pipimem.toml, [budget], or its limits in dollars to inf. Until "
                "then the offline rules take over."
            )

    def _warn_once(self, day: str, whose: str, what: str, text: str) -> None:
        if (day, whose, what) not in self._warned:
            self._warned.add((day, whose, what))
            self.warn(text)


def _under_way(ledger: LedgerTransaction, now: datetime) -> list[Reservation]:
    """The reservations of requests under way; one past its time becomes a ledger line."""
    under_way = []
    for name, reservation in ledger.held().items():
        if now <= datetime.fromisoformat(reservation.until):
            under_way.append(reservation)
        elif ledger.release(name):
            ledger.append(abandoned(reservation, now))
    return under_way


def _write_late(ledger: LedgerTransaction, late: Mapping[str, Usage | None]) -> None:
    """Write the calls that the disk refused before, by the names of their reservations."""
    for name, usage in late.items():
        # Without its reservation the call was written after all, or counts as abandoned.
        if ledger.release(name) and usage is not None:
            ledger.append(usage)


def _reservation(
    request: ModelRequest,
    now: datetime,
    tokens_in: int,
    tokens_out: int,
    price: Price | None,
    prompt: str,
) -> Reservation:
    until = later(now, timedelta(seconds=request.timeout) + _GRACE)
    return Reservation(
        time=now.isoformat(timespec="seconds"),
        until=until.isoformat(timespec="seconds"),
        channel=request.channel,
        task=request.task,
        model=request.model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=price.cost(tokens_in, tokens_out) if price else None,
        correlation=request.correlation,
        prompt=prompt,
    )


def _check_progress(state: UsageState, request: ModelRequest, prompt: str, now: datetime) -> None:
    """Raise `NoProgress` where the same prompt was just answered, and nothing came of it."""
    refusal = state.loop_guard.refusal(request.channel, request.task, prompt, now)
    if refusal:
        raise NoProgress(refusal)


def _check_circuit(
    state: UsageState, request: ModelRequest, others: Sequence[Reservation], now: datetime
) -> None:
    """Raises `ModelUnavailable` where the breaker is open, or another request probes the model."""
    circuit = usage_state.circuit_name(request.model, request.task)
    circuit_state = state.circuits.get(circuit)
    if circuit_state is None or not circuit_state.tripped:
        return
    if circuit_state.open_at(now):
        raise ModelUnavailable(usage_state.formatted(circuit, circuit_state, now))
    for other in others:
        if usage_state.circuit_name(other.model, other.task) == circuit:
            raise ModelUnavailable(
                f"{circuit} {usage_state.why(circuit_state)}, and another request is trying "
                "whether it is back."
            )


def prompt_tokens(request: ModelRequest) -> int:
    """An upper estimate of the tokens of a prompt, its schema included."""
    tokens = sum(estimate(message.content) + _AROUND_A_MESSAGE for message in request.messages)
    if request.schema is not None:
        tokens += estimate(json.dumps(request.schema.schema, ensure_ascii=False))
    return ceil(tokens * _MARGIN)
