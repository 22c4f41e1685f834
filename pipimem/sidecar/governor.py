"""The one governor of budgets: no request leaves unless the day's budgets hold all it may cost."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from math import ceil
from typing import Protocol

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import BudgetSpent, ModelTimeout, ModelUnavailable, NoProgress, StoreError
from pipimem.notes.usage import Hold, Usage
from pipimem.settings import BudgetSettings
from pipimem.sidecar import breaker
from pipimem.sidecar.account import Account, midnight
from pipimem.sidecar.billing import abandoned
from pipimem.sidecar.door import Ask, Price
from pipimem.sidecar.metering import Attempt
from pipimem.sidecar.purse import WARN_AT, Budget, counts_money, counts_tokens, granted
from pipimem.sidecar.repeats import prompt_hash
from pipimem.text.dates.bounds import later
from pipimem.text.tokens import estimate

# Our estimate is within 15 % for 95 of 100 texts; a reservation should rather be too large.
_MARGIN = 1.2
# What providers add around each message, in tokens.
_AROUND_A_MESSAGE = 5
# A living process has written its line this long after its request's deadline.
_GRACE = timedelta(minutes=1)
# The task of embedding requests in the ledger.
EMBED = "embed"


class Fresh(Protocol):
    """Lines of the ledger since a time, then what was appended since it was last asked."""

    @property
    def rewritten(self) -> bool:
        """Whether the ledger no longer has what was read of it: begin anew."""

    def fresh(self) -> Iterable[Usage]: ...


class Books(Protocol):
    """The usage ledger and the holds of a workspace, shared with other processes."""

    def locked(self) -> AbstractContextManager[None]:
        """While it lasts, no other process places a hold. Raises `StoreError`."""

    def tail(self, since: datetime) -> Fresh: ...

    def append(self, usage: Usage) -> None: ...

    def held(self) -> Mapping[str, Hold]: ...

    def place(self, hold: Hold) -> str: ...

    def release(self, name: str) -> bool: ...


@dataclass(slots=True)
class Governor:
    """The budgets of a workspace: a reservation before each request, a line of the ledger after it.

    Reservations are on disk, so that processes on one workspace cannot overshoot together, and a request whose
    process was killed counts as spent. `tell` takes warnings.
    """

    books: Books
    settings: BudgetSettings
    clock: Clock
    tell: Callable[[str], None]
    # The account of the day, and what goes on reading the ledger for it.
    _read: tuple[Account, Fresh] | None = None
    # Ended attempts that the disk refused: they count all the same.
    _unwritten: list[Usage] = field(default_factory=list)
    _told: set[tuple[str, str, str]] = field(default_factory=set)
    # Attempts end in threads of their own while others begin: held where the repeats are looked at.
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def begin(self, ask: Ask, price: Callable[[str], Awaitable[Price | None]]) -> Attempt:
        """`begin_in_thread` in a thread. To ask for the `price`, `None` where nobody knows it, costs the request's time.

        Raises `ModelTimeout` as well.
        """
        started = anyio.current_time()
        try:
            with anyio.fail_after(ask.timeout):
                found = await price(ask.model) if counts_money(self.settings) else None
        except TimeoutError as reason:
            raise ModelTimeout(f"{ask.model} was not ready within {ask.timeout:.0f} s.") from reason
        left = max(0.0, ask.timeout - (anyio.current_time() - started))
        return await self._handed_over(replace(ask, timeout=left), found)

    async def _handed_over(self, ask: Ask, price: Price | None) -> Attempt:
        """`begin_in_thread` in a thread; its hold is released where the caller is gone when it ends.

        asyncio's own `Task.cancel` does not wait for a thread, whatever shields there are.
        """
        handover = _Handover()

        def let_out() -> None:
            name, attempt = self._let_out(ask, price)
            if not handover.put(name, attempt):
                self.books.release(name)

        try:
            await to_thread.run_sync(let_out)
        except BaseException:
            if placed := handover.give_up():
                self.books.release(placed[0])  # one file is removed, which is quicker than a thread
            raise
        return handover.taken()

    def begin_in_thread(self, ask: Ask, price: Price | None) -> Attempt:
        """The attempt, with `max_tokens` cut to what is left; may wait for the disk and for other processes.

        Before anything is sent it raises `BudgetSpent`, `NoProgress`, `StoreError`, or `ModelUnavailable` where the
        model is left alone after failures.
        """
        return self._let_out(ask, price)[1]

    def _let_out(self, ask: Ask, price: Price | None) -> tuple[str, Attempt]:
        """The name of the hold, and the attempt."""
        # A question for an embedder may be a few words: their unkeyed hash would tell who guesses them.
        prompt = prompt_hash(ask.turns) if ask.task != EMBED else ""
        size = prompt_tokens(ask)
        with self.books.locked():
            now = self.clock.wall()
            held = self._living(now)
            account = self._caught_up(now)
            self._refuse_rest(account, ask, held, now)
            with self._lock:
                refusal = account.repeats.refusal(ask.channel, ask.task, prompt, now)
            if refusal:
                raise NoProgress(refusal)
            answer = self._granted(account, ask, size, price, held)
            hold = Hold(
                time=now.isoformat(timespec="seconds"),
                until=later(now, timedelta(seconds=ask.timeout) + _GRACE).isoformat(
                    timespec="seconds"
                ),
                channel=ask.channel,
                task=ask.task,
                model=ask.model,
                tokens_in=size,
                tokens_out=answer,
                cost=price.of(size, answer) if price else None,
                correlation=ask.correlation,
                prompt=prompt,
            )
            name = self.books.place(hold)
        return name, Attempt(
            replace(ask, max_tokens=answer), hold, price, self.clock, partial(self._ended, name)
        )

    def _ended(self, name: str, usage: Usage) -> None:
        """Puts an attempt's line in the place of its hold. Raises `StoreError`, and counts it all the same.

        Waits for the disk, and up to 0.2 s for whoever writes to the channel; called in threads.
        """
        with self._lock:
            if self._read is not None:
                self._read[0].repeats.count(usage, self.clock.wall(), own=True)
        try:
            self._append(usage)
        finally:
            self.books.release(name)

    # ── under the lock of the books, in a thread ────────────────────────────────────────────────────────────────

    def _living(self, now: datetime) -> list[Hold]:
        """The requests under way; one whose process died becomes a line of the ledger."""
        living = []
        for name, hold in self.books.held().items():
            if now <= datetime.fromisoformat(hold.until):
                living.append(hold)
            elif self.books.release(name):
                self._append(abandoned(hold, now))
        return living

    def _append(self, usage: Usage) -> None:
        try:
            self.books.append(usage)
        except StoreError:
            self._unwritten.append(usage)
            raise

    def _caught_up(self, now: datetime) -> Account:
        """The account with everything that any process wrote until now."""
        # As at a start too: a ledger that a person, a backup or a forgetting rewrote.
        if self._read is None or self._read[1].rewritten:
            tail = self.books.tail(midnight(now))
            account = Account.opened(self.settings, now, tail.fresh())
            account.forgive(now)
            self._read = account, tail
        account, tail = self._read
        account.turn(now)
        for usage in tail.fresh():
            with self._lock:
                account.count(usage, now)
        while self._unwritten:
            with self._lock:
                account.count(self._unwritten.pop(), now)
        return account

    def _refuse_rest(self, account: Account, ask: Ask, held: Sequence[Hold], now: datetime) -> None:
        circuit = breaker.circuit(ask.model, ask.task)
        standing = account.standings.get(circuit)
        if standing is None or not standing.tripped:
            return
        if standing.open_at(now):
            raise ModelUnavailable(breaker.told(circuit, standing, now))
        if any(breaker.circuit(hold.model, hold.task) == circuit for hold in held):
            raise ModelUnavailable(
                f"{circuit} failed too often, and another request is trying whether it is back."
            )

    def _granted(
        self, account: Account, ask: Ask, size: int, price: Price | None, held: Sequence[Hold]
    ) -> int:
        # What is embedded for all channels together is held by the workspace's budget alone.
        limits = 2 if ask.channel else 1
        for budget in account.budgets(ask.channel)[:limits]:
            self._warn(budget, str(account.day))
        try:
            if price is None and counts_money(self.settings) and not counts_tokens(self.settings):
                raise BudgetSpent(
                    f"{ask.model} has no known price, so a budget in dollars alone cannot hold it: set tokens_per_day "
                    "in pipimem.toml, [budget], or its limits in dollars to inf. Until then the embedded rules think."
                )
            budgets = account.budgets(ask.channel, held)[:limits]
            meanwhile = (
                "recall goes by words alone" if ask.task == EMBED else "the embedded rules think"
            )
            return granted(budgets, size, ask.max_tokens, price, meanwhile)
        except BudgetSpent as spent:
            # By what comes before the figures: a line for the budget, not for each of 20,000 channels it stops.
            self._tell_once(str(account.day), str(spent).partition(":")[0], "spent", str(spent))
            raise

    def _warn(self, budget: Budget, day: str) -> None:
        if budget.share >= WARN_AT:
            self._tell_once(
                day,
                budget.whose,
                "warned",
                f"{budget.share:.0%} of today's budget of {budget.told()}",
            )

    def _tell_once(self, day: str, whose: str, what: str, text: str) -> None:
        if (day, whose, what) not in self._told:
            self._told.add((day, whose, what))
            self.tell(text)


class _Handover:
    """An attempt on its way from the thread that let it out to its caller, who may be gone meanwhile."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._placed: tuple[str, Attempt] | None = None
        self._is_given_up = False

    def put(self, name: str, attempt: Attempt) -> bool:
        """Whether there is still somebody to take it."""
        with self._lock:
            self._placed = name, attempt
            return not self._is_given_up

    def give_up(self) -> tuple[str, Attempt] | None:
        """The caller is gone: what was put before, which is his to release."""
        with self._lock:
            self._is_given_up = True
            return self._placed

    def taken(self) -> Attempt:
        """What was put."""
        assert self._placed is not None
        return self._placed[1]


def prompt_tokens(ask: Ask) -> int:
    """What a prompt takes at most, by our estimate, its schema included."""
    tokens = sum(estimate(turn.content) + _AROUND_A_MESSAGE for turn in ask.turns)
    if ask.schema is not None:
        tokens += estimate(json.dumps(ask.schema.schema, ensure_ascii=False))
    return ceil(tokens * _MARGIN)
