"""Background jobs: errors are logged once, kept for `status`, and followed by a pause."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from pipimem.clock import Clock
from pipimem.errors import PipimemError, SidecarError, described
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.state.schedule import Problem
from pipimem.store.job_failures import Problems
from pipimem.text.secrets import redacted

T = TypeVar("T")

# Minutes to wait after the first, second … failure in a row: what is broken for hours is not asked
# every minute.
_BACKOFF = (1, 2, 4, 8, 16, 32, 60)
# These say in a sentence what is wrong outside of our code: no traceback helps whoever reads it.
_EXPECTED = (PipimemError, OSError, ImportError)
_PACKAGE = Path(__file__).parents[1]

_log = logging.getLogger("pipimem")


class Failure(Struct, frozen=True):
    """A run of a job that raised: why in a sentence, and in how many seconds it may run again."""

    why: str
    pause: float


class _Streak(Struct):
    """The failures of one job in a row; `until` is on the clock's monotonic scale."""

    problem: Problem
    until: float = float("-inf")
    is_of_this_process: bool = False
    is_bug: bool = False


class Background:
    """Runs background jobs, each known by its name and the folder of its channel.

    With `problems` what fails is on the disk too, for `status` and `doctor`. The methods that are
    not async may be called in any thread; `failed` and `succeeded` may write a small file.
    """

    def __init__(self, clock: Clock, problems: Problems | None = None) -> None:
        self._clock, self._problems = clock, problems
        self._lock = threading.Lock()
        self._streaks: dict[tuple[str, str], _Streak] = {}
        self._has_read, self._has_warned = problems is None, False

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

        Raises what `passes` names. Without `warns` the caller says itself what is expected to
        fail at times, such as a full disk; bugs are logged all the same.
        """
        try:
            result = await work()
        except passes:
            raise
        except Exception as error:  # noqa: BLE001 - no bug of ours may end the host
            # A failure while it is cancelled is reported too.
            return await finish_in_thread(partial(self.failed, job, error, channel, warns=warns))
        await self.note_success(job, channel)
        return result

    async def note_success(self, job: str, channel: str = "") -> None:
        """Calls `succeeded` in a thread, where there is anything to end."""
        if (job, channel) in self._streaks or not self._has_read:
            await run_in_thread(self.succeeded, job, channel)

    def attempt_in_thread(
        self, job: str, work: Callable[[], T], *, then: Callable[[], None] | None = None
    ) -> T | Failure:
        """Does the work; gives its result, or the `Failure` where it raises, after calling `then`.

        Only the caller knows whether its end is a success.
        """
        from asyncio import CancelledError  # 20 ms, and loaded by now unless the loop is trio's

        try:
            return work()
        except (Exception, CancelledError) as error:  # noqa: BLE001 - nobody cancels a thread
            failure = self.failed(job, error)
        if then is not None:
            then()
        return failure

    async def keep(self, job: str, work: Callable[[], Awaitable[None]]) -> None:
        """Awaits work that runs until cancelled; where it raises it is restarted after a pause."""
        from anyio import sleep  # a command that only reads files does without it

        while True:
            outcome = await self.attempt(job, work)
            if not isinstance(outcome, Failure):
                return
            await sleep(outcome.pause)

    def pause(self, job: str, channel: str = "") -> float:
        """In how many seconds a job may run again; 0 where it may now."""
        streak = self._streaks.get((job, channel))
        return max(0.0, streak.until - self._clock.monotonic()) if streak else 0.0

    def pause_after_bug(self, job: str, channel: str = "") -> float:
        """In how many seconds a job may run again that failed by a bug; 0 for any other failure.

        What may be mended from outside, such as a full disk, is none.
        """
        streak = self._streaks.get((job, channel))
        return self.pause(job, channel) if streak and streak.is_bug else 0.0

    def shortest_pause(self, channel: str) -> float | None:
        """The shortest pause of a channel's failed jobs, in seconds; `None` without any."""
        pauses = (
            self.pause(job, folder) for job, folder in list(self._streaks) if folder == channel
        )
        return min((pause for pause in pauses if pause), default=None)

    def failed(
        self, job: str, error: BaseException, channel: str = "", *, warns: bool = True
    ) -> Failure:
        """Notes a failure, and logs it unless it repeats the one before.

        Without `warns` only bugs are logged.
        """
        what, now = _safe_description(error), self._clock.wall().isoformat(timespec="seconds")
        is_expected = isinstance(error, _EXPECTED)
        with self._lock:
            self._read()
            before = self._streaks.get((job, channel))
            problem = Problem(job, channel, what, first=now, last=now)
            if before is not None:
                times = before.problem.times + 1
                problem = replace(problem, first=before.problem.first, times=times)
            pause = backoff(problem.times).total_seconds()
            until = self._clock.monotonic() + pause
            self._streaks[job, channel] = _Streak(
                problem, until, is_of_this_process=True, is_bug=not is_expected
            )
            if self._problems is not None:
                self._try_problems(self._problems.keep, problem)
        if not _repeats(before, what) and (warns or not is_expected):
            _logged(job, channel, error, what, pause)
        return Failure(described(error) if is_expected else what, pause)

    def succeeded(self, job: str, channel: str = "") -> None:
        """Notes that a job did its work: its failures are over."""
        with self._lock:
            self._read()
            streak = self._streaks.pop((job, channel), None)
            if streak is not None and self._problems is not None:
                # Where it fails, operators are told of it until a later success.
                self._try_problems(self._problems.remove, job, channel)

    def _read(self) -> None:
        """Takes in what former processes left: a job that does well now ends their problem."""
        if self._has_read or self._problems is None:
            return
        self._has_read = True
        for problem in self._try_problems(self._problems.all) or ():
            self._streaks.setdefault((problem.job, problem.channel), _Streak(problem))

    def _try_problems(self, deed: Callable[..., T], *words: object) -> T | None:
        """Calls `deed` on the problems on disk; `None` where it fails, which is logged once."""
        try:
            return deed(*words)
        except Exception as error:  # noqa: BLE001 - nothing catches what is raised here
            level, self._has_warned = logging.DEBUG if self._has_warned else logging.WARNING, True
            _log.log(
                level,
                "the failures of background jobs are not kept: %s",
                described(error),
                exc_info=None if isinstance(error, _EXPECTED) else error,
            )
            return None


def _repeats(before: _Streak | None, what: str) -> bool:
    """Whether a failure is the one that was logged before."""
    return before is not None and before.is_of_this_process and before.problem.what == what


def backoff(failures: int) -> timedelta:
    """How long a job waits after so many failures in a row, at least one."""
    return timedelta(minutes=_BACKOFF[min(failures, len(_BACKOFF)) - 1])


def _logged(job: str, channel: str, error: BaseException, what: str, pause: float) -> None:
    name = f"{job} of {channel}" if channel else job
    if isinstance(error, _EXPECTED):
        _log.warning("%s: %s (again in %.0f s)", name, redacted(described(error)), pause)
    else:
        # Where it was raised, without its words: they may quote a message.
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        place = "".join(traceback.format_tb(error.__traceback__)).rstrip()
        _log.error("%s: %s (again in %.0f s)\n%s", name, what, pause, place)


def _safe_description(error: BaseException) -> str:
    """An error in words that quote no message, which a later `forget` would miss."""
    if isinstance(error, OSError) or (
        isinstance(error, PipimemError) and not isinstance(error, SidecarError)
    ):
        return described(error)
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(_PACKAGE):
            place = f" in {path.relative_to(_PACKAGE).as_posix()}, line {line}"
    return f"{type(error).__name__}{place}"
