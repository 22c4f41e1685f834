"""A sidecar of the host's own: whatever it raises, memory can go on."""

from __future__ import annotations

from dataclasses import dataclass

from pipimem.errors import SidecarError
from pipimem.sidecar.contracts import Answer, Assistant, Call, Task


@dataclass(frozen=True, slots=True)
class Hosted:
    """`Assistant` around another one, whose errors become `SidecarError`."""

    inner: Assistant

    @property
    def name(self) -> str:
        """The inner one's."""
        return self.inner.name

    @property
    def paid(self) -> bool:
        """The inner one's."""
        return self.inner.paid

    async def answer(self, task: Task, call: Call) -> Answer:
        """The inner one's answer. Raises `SidecarError` only."""
        try:
            return await self.inner.answer(task, call)
        except SidecarError:
            raise
        except Exception as error:
            raise SidecarError(
                f"the assistant failed with {type(error).__name__}: {error}"
            ) from error
