"""The prompts of tasks: Markdown files with placeholders, the workspace's own before ours.

The first line of a prompt states its version, `<!-- version: 2 -->`, and is not sent to models.
Raise the version of ours when its task asks for another answer: a workspace's own prompt of another
version would ask for the old answer, and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from pipimem import resources
from pipimem.errors import SettingsError
from pipimem.notes.message import Message
from pipimem.sidecar.sheet import shown_lines
from pipimem.sidecar.tasks import Consolidate, Fold, KnownEntry, Refresh, Rerank, Task, Tidy
from pipimem.text.secrets import redacted
from pipimem.text.token_count import truncated_middle

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SPLIT = re.compile(r"^---user---[ \t]*\n", re.MULTILINE)

_VERSION = re.compile(r"<!-- *version: *(\d{1,9}) *-->[ \t]*\n")

# Two turns say what an "it" or a "yes" at the beginning of a window is about.
_LEAD_IN, _LEAD_IN_CHARS = 4, 240
_DAY = re.compile(r"\d{4}-\d\d")

_NOTHING = "(none)"
_NOT_ASKED = "(not asked for)"
# What a task cannot be done without. The rest (today, participants …) a prompt may leave out.
_NEEDED: Mapping[str, frozenset[str]] = {
    "consolidate": frozenset({"memory", "session", "window"}),
    "refresh": frozenset({"session", "window"}),
    "tidy": frozenset({"memory"}),
    "fold": frozenset({"blocks"}),
    "rerank": frozenset({"query", "candidates"}),
}


class Prompts:
    """Prompts by name; `overrides` is the workspace's `prompts/` folder, which need not exist."""

    NAMES = tuple(_NEEDED)

    def __init__(self, overrides: Path | None = None) -> None:
        self._overrides = overrides

    def rendered(self, name: str, values: Mapping[str, str]) -> tuple[str, str]:
        """System and user part of a prompt with its placeholders filled, each value verbatim.

        Reads the file each time, because people edit prompts while a bot runs. Raises
        `SettingsError` for a prompt that cannot work.
        """
        text, where = self._text(name)
        text = _VERSION.sub("", text, count=1)
        _check(text, where, _NEEDED.get(name, frozenset()), frozenset(values))
        system, user = _SPLIT.split(text, maxsplit=1)
        # One pass over the prompt alone: a "{{window}}" in a value stays as it is.
        return _filled(system, values).strip(), _filled(user, values).strip()

    def why_unused(self, name: str) -> str:
        """Return why ours is sent in the place of the workspace's prompt; empty if it is not.

        Raises `SettingsError` for a file that cannot be read.
        """
        own, ours = self._own_text(name), _version(resources.prompt(name))
        if own is None or _version(own) == ours:
            return ""
        has = "its first line states no version"
        if _version(own):
            has = f"it is of version {_version(own)}"
        return (
            f"not used: {has}; take over what is new in the prompt of pipimem, "
            f"and write <!-- version: {ours} --> into the first line"
        )

    def _text(self, name: str) -> tuple[str, str]:
        """The text of a prompt, and its file."""
        own, ours = self._own_text(name), resources.prompt(name)
        if own is not None and _version(own) == _version(ours):
            return own, f"{self._overrides}/{name}.md"
        return ours, f"prompts/{name}.md"

    def _own_text(self, name: str) -> str | None:
        """The text of the workspace's prompt, `None` if it has none."""
        if self._overrides is None:
            return None
        path = self._overrides / f"{name}.md"
        if path.exists() and not path.is_file():  # reading a pipe would never end
            raise SettingsError(f"{path} is no file. Move it away, or put a file there.")
        try:
            return path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return None  # most workspaces override nothing
        except (OSError, UnicodeDecodeError) as reason:
            raise SettingsError(
                f"{path} cannot be read ({reason}); make it UTF-8 text or remove it."
            ) from reason


def _version(text: str) -> int:
    """The version that a prompt states in its first line, 0 without one."""
    found = _VERSION.match(text)
    return int(found[1]) if found else 0


def _check(text: str, where: str, needed: frozenset[str], known: frozenset[str]) -> None:
    """Raises `SettingsError` for a prompt that cannot work; `where` is its file."""
    names = frozenset(_PLACEHOLDER.findall(text))
    for name in sorted(names - known):
        choice = ", ".join(f"{{{{{one}}}}}" for one in sorted(known))
        raise SettingsError(
            f"{where}: the placeholder {{{{{name}}}}} is not known; there are {choice}."
        )
    for name in sorted(needed - names):
        raise SettingsError(
            f"{where}: the placeholder {{{{{name}}}}} is missing; the model would not see it."
        )
    if len(_SPLIT.findall(text)) != 1:
        raise SettingsError(
            f"{where}: one line ---user--- must split the instructions from what is asked."
        )


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found.group(1)], text)


def placeholder_values(task: Task, channel: str) -> dict[str, str]:
    """The values of the placeholders in the task's prompt, `prompts/<name>.md`."""
    match task:
        case Consolidate():
            return _consolidate_values(task, channel)
        case Refresh():
            return {
                "today": _day(task.now),
                "session": _lines(shown_lines(task.session)),
                "window": window_lines(task.window),
            }
        case Tidy():
            return _tidy_values(task)
        case Fold():
            bullets = _lines(f"[{name}] {_line(text)}" for name, text in task.bullets)
            return {
                "month": task.month,
                "blocks": bullets,
                "most_bullets": str(task.most_bullets),
            }
        case Rerank():
            numbered = enumerate(task.candidates, 1)
            candidates = _lines(f"[{place}] {_line(text)}" for place, text in numbered)
            return {"query": _line(task.query), "candidates": candidates}


def _consolidate_values(task: Consolidate, channel: str) -> dict[str, str]:
    return {
        "today": _day(task.now),
        "channel": _line(channel),
        "participants": ", ".join(_line(name) for name in task.participants) or _NOTHING,
        "memory": _lines(_by_section(task.memory, task.hidden)),
        "told": _lines(f"- {_line(bullet)}" for bullet in task.told),
        "not_kept": _lines(f"- {_line(item)}" for item in task.not_kept),
        "session": _NOT_ASKED if task.session is None else _lines(shown_lines(task.session)),
        "before": _lines(_lead_in(task.before)),
        "window": window_lines(task.window),
        "most_learned": str(task.most_learned),
        "most_history": str(task.most_history),
    }


def _by_section(entries: Iterable[KnownEntry], hidden: int = 0) -> Iterator[str]:
    """A heading for each section, and its entries below: `[id] text`."""
    for section, group in groupby(entries, key=attrgetter("section")):
        yield f"## {_line(section)}"
        for entry in group:
            yield f"[{entry.id}] {_mark(entry)}{_line(entry.text)}"
    if hidden:
        yield f"({hidden} more are not shown)"


def _mark(entry: KnownEntry) -> str:
    """When an entry is due, or else when it was said, unless its text names a day."""
    if entry.due:
        return f"(due {entry.due}{', no news' * entry.no_news}) "
    return f"({entry.said}) " if entry.said and not _DAY.search(entry.text) else ""


def _lead_in(before: Sequence[Message]) -> Iterator[str]:
    """The last messages in front of a window, shortened and without ids: they are no sources."""
    for message in before[-_LEAD_IN:]:
        text = truncated_middle(_line(message.content), _LEAD_IN_CHARS)
        yield f"- {_name(message)}: {text}"


def _tidy_values(task: Tidy) -> dict[str, str]:
    memory = []
    for group, entries in groupby(task.memory, key=attrgetter("group")):
        memory.append(f"Group {group}" if group else "Others")
        memory += [f"[{entry.id}] ({_origin(entry)}) {_line(entry.text)}" for entry in entries]
    return {
        "today": _day(task.now),
        "memory": _lines(memory),
        "history": _lines(f"- {_line(bullet)}" for bullet in task.history),
    }


def _origin(entry: KnownEntry) -> str:
    """What tidying must know of an entry: its section, trust, the day it was said, and is due."""
    parts = [_line(entry.section), str(entry.trust), entry.said or "day unknown"]
    if entry.due:
        parts.append(f"due {entry.due}{', no news' * entry.no_news}")
    return "; ".join(parts)


def window_lines(window: Iterable[Message]) -> str:
    """The messages, one a line: `[message id] 2026-03-02 Mon 09:10 name: text`."""
    lines = []
    for message in window:
        minute = f"{message.time:%Y-%m-%d %a %H:%M} " if message.time is not None else ""
        lines.append(f"[{_line(message.id)}] {minute}{_name(message)}: {_line(message.content)}")
    return _lines(lines)


def _line(text: str) -> str:
    # A text of several lines could look like further messages or entries. What a person typed into
    # a file was never masked.
    return redacted(" ".join(text.split()))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) or _NOTHING


def _day(now: datetime) -> str:
    return f"{now:%Y-%m-%d} ({now:%A})"  # small models cannot tell the weekday of a date


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
