"""An assistant with scripted answers, for tests of hosts and of pipimem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipimem.errors import ModelUnavailable
from pipimem.sidecar.answer_schemas import parse_answer
from pipimem.sidecar.tasks import ANSWERS, Answer, Call, Task, task_name

Reply = Answer | str | BaseException


@dataclass(slots=True)
class Scripted:
    """`Assistant` with its answers handed in.

    `answers` is one queue for all tasks, or a mapping with a queue for each task (`consolidate`,
    `refresh`, `tidy`, `fold`, `rerank`). An answer is a value, a string (parsed as strictly as a
    model's text) or an exception to raise. An empty queue raises `ModelUnavailable`. `asked` holds
    every task so far, with its call in `calls`.
    """

    answers: Iterable[Reply] | Mapping[str, Iterable[Reply]] = ()
    paid: bool = False
    name: str = "scripted"
    asked: list[Task] = field(default_factory=list, init=False)
    calls: list[Call] = field(default_factory=list, init=False)
    _by_task: dict[str, list[Reply]] = field(default_factory=dict, init=False, repr=False)
    _queue: list[Reply] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.answers, Mapping):
            self._by_task = {task: list(answers) for task, answers in self.answers.items()}
        else:
            self._queue = list(self.answers)

    def then(self, task: str, *answers: Reply) -> None:
        """Appends answers to the queue of one task."""
        self._by_task.setdefault(task, []).extend(answers)

    async def answer(self, task: Task, call: Call) -> Answer:
        """The next answer of the task's queue; raises `TypeError` if it answers another task."""
        self.asked.append(task)
        self.calls.append(call)
        name = task_name(task)
        queue = self._by_task.get(name, []) if isinstance(self.answers, Mapping) else self._queue
        if not queue:
            raise ModelUnavailable(
                f"The scripted sidecar has no answer left for {name}; give it one more."
            )
        answer = queue.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            return parse_answer(answer, task)
        wanted = ANSWERS[type(task)]
        if not isinstance(answer, wanted):
            raise TypeError(
                f"the next scripted answer is a {type(answer).__name__}, but {name} wants "
                f"{wanted.__name__}"
            )
        return answer
