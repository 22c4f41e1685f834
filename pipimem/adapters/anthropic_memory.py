"""Memory for Anthropic's memory tool: the notes of one conversation as the files of `/memories`.

`client.beta.messages.tool_runner(…, tools=[ChannelMemoryTool(channel)])`; what is said the host
hands to the channel itself, before and after the turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from types import NoneType
from typing import Any

from pipimem.errors import PipimemError, described
from pipimem.notes.entry import Entry
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import NOTE_FILES, File, Kind
from pipimem.notes.notes import Note
from pipimem.runtime.channel import Channel, upkeep_of
from pipimem.text.characters import storable
from pipimem.text.markdown.lines import heading

try:
    from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
except ImportError as missing:
    raise ImportError(
        "pipimem.adapters.anthropic_memory needs Anthropic's SDK: pip install 'pipimem[anthropic]'"
    ) from missing


_ONLY_BULLETS = (
    "Only lines that begin with '- ' can be added, changed or taken out; headings, paragraphs and "
    "comments are people's. Nothing was changed."
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool of the conversation."""

    name: str
    arguments: dict[str, Any]


def calls_for(note: Note, shown: str, edited: str) -> list[ToolCall]:
    """The calls that make the text `shown` of a note the text `edited`.

    `shown` is its text as the model sees it, with secrets masked. Raises `PipimemError` where the
    edit changes anything but bullets.
    """
    before, after = (Note.read(File.MEMORY, text, b"") for text in (shown, edited))
    real, old, new = _bullets(note), _bullets(before), _bullets(after)
    if len(real) != len(old) or _changes_others(before, after):
        raise PipimemError(_ONLY_BULLETS)
    keys, new_keys = [_key(entry) for entry in old], [_key(entry) for entry in new]
    matched = SequenceMatcher(None, keys, new_keys, autojunk=False)
    calls: list[ToolCall] = []
    for tag, begin, end, new_begin, new_end in matched.get_opcodes():
        if tag != "equal":
            calls += _calls(real[begin:end], new[new_begin:new_end])
    if not calls and shown.split() != edited.split():
        raise PipimemError(_ONLY_BULLETS)  # a comment among the lines of a bullet
    return calls


def _calls(old: Sequence[Entry], new: Sequence[Entry]) -> Iterator[ToolCall]:
    """Entries that stand in the place of others: each of its own, the rest comes or goes."""
    for entry, other in zip(old, new, strict=False):
        given: dict[str, Any] = {"id": f"memory:{entry.ref}", "text": other.text}
        if other.section != entry.section:
            given["kind"] = _kind(other)
        yield ToolCall("memory_update", given)
    for other in new[len(old) :]:
        yield ToolCall("memory_save", {"text": other.text, "kind": _kind(other)})
    gone = [f"memory:{entry.ref}" for entry in old[len(new) :]]
    if gone:
        yield ToolCall("memory_forget", {"ids": gone})


def _bullets(note: Note) -> list[Entry]:
    return [entry for entry in note.entries if entry.bullet]


def _changes_others(before: Note, after: Note) -> bool:
    """Whether any line changes that belongs to no bullet; new headings of memory's own may come."""
    old, new = Counter(_others(before)), Counter(_others(after))
    return bool(old - new) or any(not _is_known_heading(line) for line in new - old)


def _others(note: Note) -> Iterator[str]:
    """The lines of a note that belong to no bullet."""
    of_bullets = {line for entry in _bullets(note) for line in range(entry.start, entry.end)}
    for number, line in enumerate(note.document.lines):
        if number not in of_bullets and line.strip():
            yield line.strip()


def _is_known_heading(line: str) -> bool:
    """Whether a line is a heading that the runtime would make itself."""
    found = heading(line)
    return found is not None and kind_of(found[2]) is not None


def _key(entry: Entry) -> tuple[str, str]:
    return entry.section, entry.text


def _kind(entry: Entry) -> str:
    return str(kind_of(entry.section) or Kind.FACT)


_ROOT = "/memories"
_FILES = {f"{_ROOT}/{file}": file for file in NOTE_FILES}
_MEMORY = f"{_ROOT}/{File.MEMORY}"
# The arguments of each command: their types, and what is expected in words.
_TEXT, _NUMBER = (str, "a text"), (int, "a whole number")
_RANGE = ((list, NoneType), "a list of two line numbers")
_COMMANDS: Mapping[str, Mapping[str, tuple[Any, str]]] = {
    "view": {"path": _TEXT, "view_range": _RANGE},
    "create": {"path": _TEXT, "file_text": _TEXT},
    "str_replace": {"path": _TEXT, "old_str": _TEXT, "new_str": _TEXT},
    "insert": {"path": _TEXT, "insert_line": _NUMBER, "insert_text": _TEXT},
    "delete": {"path": _TEXT},
    "rename": {"old_path": _TEXT, "new_path": _TEXT},
}
_OPTIONAL = {"view_range": None, "new_str": ""}
# With one of these a line of Markdown begins that is no sentence of its own.
_MARKS = "-*+#> \t"
# So many lines are shown around a change.
_AROUND = 2
_ADD_LINES = f"add lines that begin with '- ' to {_MEMORY} with `insert`"


class ChannelMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for one conversation.

    There are three files, and a path is a name among them, so that none leads elsewhere. SESSION.md
    and HISTORY.md are read only. An edit of MEMORY.md is carried out as the calls of
    `memory_save`, `memory_update` and `memory_forget` that do the same: with their trust, with
    secrets masked, undoable, and never on what a person typed.
    """

    def __init__(
        self, channel: Channel, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.channel = channel

    async def call(self, input: object) -> str:  # noqa: A002 - the SDK's name
        """Carries out one command. Raises `ToolError`, which the SDK gives the model as text."""
        result = await super().call(_checked(input))
        return str(result)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A file with numbered lines, or the list of files."""
        if command.path.rstrip("/") == _ROOT:
            return await self._listed()
        shown = self._shown(await self._note(_file_at(command.path)))
        lines = _numbered(shown.split("\n"), command.view_range)
        return f"Here's the content of {command.path} with line numbers:\n{lines}"

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Refused: the files are there already, and there are no others."""
        if command.path in _FILES:
            raise ToolError(f"File {command.path} already exists; {_ADD_LINES}.")
        raise ToolError(f"Only {', '.join(_FILES)} can be here; {_ADD_LINES}.")

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Puts other text in the place of one that stands once in MEMORY.md."""
        note = await self._editable(command.path)
        shown, old = self._shown(note), command.old_str
        places = [at for at in range(len(shown)) if shown.startswith(old, at)] if old else []
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{command.path}."
            )
        if len(places) > 1:
            lines = ", ".join(str(shown.count("\n", 0, at) + 1) for at in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{lines}. Please ensure it is unique"
            )
        edited = shown[: places[0]] + command.new_str + shown[places[0] + len(old) :]
        return await self._edit(note, edited)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Puts lines behind a line of MEMORY.md; those that are no bullets become some."""
        note = await self._editable(command.path)
        lines = self._shown(note).splitlines(keepends=True)
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        if command.insert_line and not lines[command.insert_line - 1].endswith("\n"):
            lines[command.insert_line - 1] += "\n"
        lines[command.insert_line : command.insert_line] = _as_bullets(command.insert_text)
        return await self._edit(note, "".join(lines))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Refused: a model takes out entries, never a whole file."""
        _file_at(command.path)
        raise ToolError(
            f"{command.path} cannot be deleted. Take lines out of {_MEMORY} with `str_replace`."
        )

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Refused: the files of a conversation keep their names."""
        _file_at(command.old_path)
        raise ToolError(f"{command.old_path} keeps its name.")

    # ── inside ────────────────────────────────────────────────────────────────────────────────────

    async def _note(self, file: File) -> Note:
        try:
            return (await upkeep_of(self.channel).notes()).note(file)
        except PipimemError as error:
            raise ToolError(described(error)) from error

    async def _editable(self, path: str) -> Note:
        if _file_at(path) is not File.MEMORY:
            raise ToolError(f"{path} is written from what is said; {_ADD_LINES}.")
        return await self._note(File.MEMORY)

    def _shown(self, note: Note) -> str:
        """The text of a note as the model sees it; what people typed may hold secrets."""
        text = note.text.replace("\r\n", "\n")
        return self.channel.notes.masked(text)

    async def _listed(self) -> str:
        lines = []
        for path, file in _FILES.items():
            lines.append((len((await self._note(file)).text.encode()), path))
        lines.insert(0, (sum(size for size, _ in lines), _ROOT))
        return (
            f"Here're the files and directories up to 2 levels deep in {_ROOT}, excluding hidden "
            "items:\n" + "\n".join(f"{size}B\t{path}" for size, path in lines)
        )

    async def _edit(self, note: Note, edited: str) -> str:
        """Makes the calls that an edit asks for, and shows the file. Raises `ToolError`."""
        problems: list[str] = []
        before = self._shown(note)
        try:
            for one in calls_for(note, before, edited):
                result = await self.channel.call_tool(one.name, one.arguments)
                parts = result.value.get("results", [result.value])
                problems += [part["error"] for part in parts if "error" in part]
        except PipimemError as error:
            problems.append(described(error))
        if problems:
            raise ToolError(" ".join(problems))
        after = self._shown(await self._note(File.MEMORY))
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{_changed_lines(before, after)}"
        )


def _checked(given: object) -> dict[str, Any]:
    """A call of the tool, with what is missing or wrong told to the model by a `ToolError`."""
    if not isinstance(given, Mapping) or str(given.get("command")) not in _COMMANDS:
        raise ToolError(f"Give a `command`: one of {', '.join(_COMMANDS)}.")
    command = str(given["command"])
    checked: dict[str, Any] = {"command": command, **_OPTIONAL}
    for name, (kind, expected) in _COMMANDS[command].items():
        value = given.get(name, _OPTIONAL.get(name))
        if not isinstance(value, kind) or isinstance(value, bool):
            raise ToolError(f"{command}: `{name}` must be {expected}.")
        checked[name] = storable(value) if isinstance(value, str) else value
    bounds = checked["view_range"]
    if bounds is not None and [type(bound) for bound in bounds] != [int, int]:
        raise ToolError(f"{command}: `view_range` must be {_RANGE[1]}.")
    return checked


def _file_at(path: str) -> File:
    """The file of a path. Raises `ToolError` for any other path."""
    if path not in _FILES:
        raise ToolError(f"The path {path} does not exist. There are {', '.join(_FILES)}.")
    return _FILES[path]


def _numbered(lines: Sequence[str], bounds: Sequence[int] | None = None) -> str:
    """Lines with their numbers, as the memory tool's description has them."""
    first, last = bounds or (1, -1)
    first = max(1, first)
    chosen = lines[first - 1 : len(lines) if last == -1 else max(0, last)]
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(chosen, first))


def _changed_lines(before: str, after: str) -> str:
    """The lines of a text that another one has not, with those around them, numbered."""
    known, lines = Counter(before.split("\n")), after.split("\n")
    shown: set[int] = set()
    for place, line in enumerate(lines):
        known[line] -= 1
        if known[line] < 0:
            shown.update(range(max(0, place - _AROUND), min(len(lines), place + _AROUND + 1)))
    return "\n".join(f"{place + 1:6}\t{lines[place]}" for place in sorted(shown))


def _as_bullets(text: str) -> list[str]:
    """Lines to put into MEMORY.md; a sentence without a mark becomes a bullet."""
    lines: list[str] = []
    for line in text.strip("\n").split("\n"):
        is_sentence = line and line[0] not in _MARKS
        lines.append(f"- {line}\n" if is_sentence else f"{line}\n")
    return lines
