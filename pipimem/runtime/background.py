"""Background jobs: what one raises is logged once and remembered, and the job waits before it runs again."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
from anyio import to_thread

from pipimem.clock import Clock
from pipimem.errors import PipimemError, SidecarError
from pipimem.store.problems import Problem, Problems
from pipimem.text.dates.bounds import later

T = TypeVar("T")

# DESIGN §8: minutes to wait after the first, second … failure in a row.
_BACKOFF = (1, 2, 4, 8, 16, 32, 60)
# These say in a sentence what is wrong outside of our code: no traceback helps whoever reads it.
_EXPECTED = (PipimemError, OSError, ImportError)
_PACKAGE = Path(__file__).parents[1]

_log = logging.getLogger("pipimem")


@dataclass(frozen=True, slots=True)
class Failure:
    """A run of a job that raised: why in a sentence, and in how many seconds it may run again."""

    why: str
    pause: float


@dataclass(slots=True)
class _Streak:
    """The failures of one job in a row; `until` is on the clock's monotonic scale."""

    problem: Problem
    until: float = float("-inf")
    is_of_this_process: bool = False


class Background:
    """Runs the background jobs of one workspace; a job is known by its name and its channel's folder.

    With `problems` what fails is on the disk too, for `status` and `doctor`. The methods that are
    not async may be called in any thread; `failed` and `succeeded` may write a small file.
    """

    def __init__(self, clock: Clock, problems: Problems | None = None) -> None:
        self._clock, self._problems = clock, problems
        self._lock = threading.Lock()
        self._streaks: dict[tuple[str, str], _Streak] = {}
        self._has_read = False

    async def attempt(
        self,
        job: str,
        work: Callable[[], Awaitable[T]],
        channel: str = "",
        *,
        passes: tuple[type[Exception], ...] = (),
        warns: bool = True,
    ) -> T | Failure:
        """Awaits the work; gives its result, or the `Failure` where it raises.

        Raises what `passes` names. Without `warns` the caller says himself what is expected to
        fail at times, such as a full disk; bugs are logged all the same.
        """
        try:
            result = await work()
        except passes:
            raise
        except Exception as error:  # noqa: BLE001 - no bug of ours may end the host
            with anyio.CancelScope(shield=True):  # what fails while it is cancelled is told too
                return await to_thread.run_sync(
                    partial(self.failed, job, error, channel, warns=warns)
                )
        await self.went_well(job, channel)
        return result

    async def went_well(self, job: str, channel: str = "") -> None:
        """Calls `succeeded` in a thread, where there is anything to end."""
        if (job, channel) in self._streaks or not self._has_read:
            await to_thread.run_sync(self.succeeded, job, channel)

    def attempt_in_thread(
        self, job: str, work: Callable[[], T], *, then: Callable[[], None] | None = None
    ) -> T | Failure:
        """Does the work; gives its result, or the `Failure` where it raises, after calling `then`.

        Only the caller knows whether its end is a success.
        """
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - no bug of ours may end the host
            failure = self.failed(job, error)
        if then is not None:
            then()
        return failure

    async def keep(self, job: str, work: Callable[[], Awaitable[None]]) -> None:
        """Awaits work that goes on for ever; where it raises it begins anew, after the pause."""
        while True:
            outcome = await self.attempt(job, work)
            if not isinstance(outcome, Failure):
                return
            await anyio.sleep(outcome.pause)

    def pause(self, job: str, channel: str = "") -> float:
        """In how many seconds a job may run again; 0 where it may now."""
        streak = self._streaks.get((job, channel))
        return max(0.0, streak.until - self._clock.monotonic()) if streak else 0.0

    def shortest_pause(self, channel: str) -> float | None:
        """In how many seconds the first of a channel's jobs that wait may run again; `None` where none waits."""
        pauses = (
            self.pause(job, folder) for job, folder in list(self._streaks) if folder == channel
        )
        return min((pause for pause in pauses if pause), default=None)

    def failed(
        self, job: str, error: Exception, channel: str = "", *, warns: bool = True
    ) -> Failure:
        """Notes a failure. It is logged unless the one before was the same; see `attempt` for `warns`."""
        what, now = _without_quotes(error), self._clock.wall()
        with self._lock:
            self._read()
            before = self._streaks.get((job, channel))
            times = before.problem.times + 1 if before else 1
            pause = backoff(times)
            told, due = now.isoformat(timespec="seconds"), later(now, pause)
            problem = Problem(
                job,
                channel,
                what,
                first=before.problem.first if before else told,
                last=told,
                due=due.isoformat(timespec="seconds"),
                times=times,
            )
            is_known = (
                before is not None and before.is_of_this_process and before.problem.what == what
            )
            self._streaks[job, channel] = _Streak(
                problem, self._clock.monotonic() + pause.total_seconds(), True
            )
            self._write(problem)
        if not is_known and (warns or not isinstance(error, _EXPECTED)):
            _logged(job, channel, error, what, pause.total_seconds())
        return Failure(str(error) if isinstance(error, _EXPECTED) else what, pause.total_seconds())

    def succeeded(self, job: str, channel: str = "") -> None:
        """Notes that a job did its work: its failures are over."""
        with self._lock:
            self._read()
            if self._streaks.pop((job, channel), None) is not None and self._problems is not None:
                try:
                    self._problems.remove(job, channel)
                except Exception:  # noqa: BLE001 - as below; it is told of until a later success
                    _log.debug("cannot remove the problem of %s", job, exc_info=True)

    def _read(self) -> None:
        """Takes in what former processes left: a job that does well now ends their problem."""
        if self._has_read:
            return
        self._has_read = True
        if self._problems is None:
            return
        try:
            found = self._problems.all()
        except Exception:  # noqa: BLE001 - as below; then nobody else can read it either
            _log.debug("cannot read the problems of former processes", exc_info=True)
            return
        for problem in found:
            self._streaks.setdefault((problem.job, problem.channel), _Streak(problem))

    def _write(self, problem: Problem) -> None:
        if self._problems is None:
            return
        try:
            self._problems.keep(problem)
        except Exception:  # noqa: BLE001 - nothing catches what is raised here; the log has the failure
            _log.debug("cannot keep the problem of %s", problem.job, exc_info=True)


def backoff(failures: int) -> timedelta:
    """How long a job waits after so many failures in a row, at least one."""
    return timedelta(minutes=_BACKOFF[min(failures, len(_BACKOFF)) - 1])


def _logged(job: str, channel: str, error: Exception, what: str, pause: float) -> None:
    name = f"{job} of {channel}" if channel else job
    if isinstance(error, _EXPECTED):
        _log.warning("%s: %s (again in %.0f s)", name, error, pause)
    else:
        _log.error("%s: %s (again in %.0f s)", name, what, pause, exc_info=error)


def _without_quotes(error: Exception) -> str:
    """What is wrong, without words that an error may quote of what somebody wants forgotten later."""
    if isinstance(error, OSError) or (
        isinstance(error, PipimemError) and not isinstance(error, SidecarError)
    ):
        return str(error)
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            place = f" in {path.relative_to(_PACKAGE).as_posix()}, line {line}"
    return f"{type(error).__name__}{place}"
