"""The host's own assistant: its exceptions and odd answers become `SidecarError`s."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.errors import SidecarError, described
from pipimem.sidecar.tasks import Answer, Assistant, Call, Task


@dataclass(frozen=True, slots=True)
class GuardedAssistant:
    """`Assistant` that calls `inner` and raises its errors as `SidecarError`."""

    inner: Assistant

    @property
    def name(self) -> str:
        """The inner assistant's name."""
        return self.inner.name

    @property
    def paid(self) -> bool:
        """Whether the inner assistant costs something."""
        return self.inner.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The inner assistant's answer. Raises `SidecarError` only."""
        from pipimem.sidecar.answer_schemas import checked_answer  # 20 ms, at the first answer

        try:
            return checked_answer(await self.inner.answer(task, call), task)
        except SidecarError:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and not _is_of_another_task(error):
                raise
            raise SidecarError(
                f"the assistant failed with {type(error).__name__}: {described(error)}"
            ) from error


def _is_of_another_task(error: BaseException) -> bool:
    """Return whether an error is the cancellation of something that this task awaited.

    It is the same error as the cancellation of this task.
    """
    import asyncio  # 20 ms, and loaded by now unless the loop is trio's

    try:
        task = asyncio.current_task()
    except RuntimeError:  # trio's loop, which cancels with an error of its own
        task = None
    is_cancelled = task is not None and task.cancelling() > 0
    return isinstance(error, asyncio.CancelledError) and not is_cancelled
