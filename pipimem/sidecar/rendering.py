"""A task as the values of its prompt's placeholders."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pipimem.notes.message import Message
from pipimem.sidecar.contracts import Consolidate, Fold, Known, Refresh, Rerank, Task, Tidy

NOTHING = "(none)"


def placeholder_values(task: Task, channel: str) -> dict[str, str]:
    """The values for the placeholders of the task's prompt, `prompts/<name>.md`."""
    match task:
        case Consolidate():
            return {
                "today": _day(task.now),
                "channel": _line(channel),
                "participants": ", ".join(_line(name) for name in task.participants) or NOTHING,
                "memory": _listed(
                    f"[{one.id}] ({_line(one.section)}) {_line(one.text)}" for one in task.memory
                ),
                "window": window_lines(task.window),
            }
        case Refresh():
            return {
                "today": _day(task.now),
                "session": task.session.strip() or NOTHING,
                "window": window_lines(task.window),
            }
        case Tidy():
            return {
                "today": _day(task.now),
                "memory": _listed(_tidied_line(known) for known in task.memory),
                "history": _listed(f"- {_line(bullet)}" for bullet in task.history),
            }
        case Fold():
            return {
                "month": task.month,
                "blocks": _listed(f"[{name}] {_line(text)}" for name, text in task.bullets),
            }
        case Rerank():
            numbered = (f"[{place}] {_line(text)}" for place, text in enumerate(task.candidates, 1))
            return {"query": _line(task.query), "candidates": _listed(numbered)}


def window_lines(window: Iterable[Message]) -> str:
    """The messages, one a line: `[message id] 2026-03-02 09:10 name: text`."""
    return _listed(
        f"[{_line(message.id)}] {_minute(message)}{_name(message)}: {_line(message.content)}"
        for message in window
    )


def _line(text: str) -> str:
    # A text of several lines could look like further messages or entries.
    return " ".join(text.split())


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(lines) or NOTHING


def _day(now: datetime) -> str:
    return f"{now:%Y-%m-%d} ({now:%A})"  # small models cannot tell the weekday of a date


def _minute(message: Message) -> str:
    return f"{message.time:%Y-%m-%d %H:%M} " if message.time is not None else ""


def _name(message: Message) -> str:
    match message.role:
        case "user":
            return _line(message.speaker) or "user"
        case "assistant":
            return f"{_line(message.speaker) or 'assistant'} (bot)"
        case "tool":
            return f"{_line(message.speaker) or 'tool'} (tool)"
        case "system":
            return "(system)"


def _tidied_line(known: Known) -> str:
    age = "age unknown" if known.age_days is None else f"{known.age_days} days"
    return f"[{known.id}] ({_line(known.section)}; {known.trust}; {age}) {_line(known.text)}"
