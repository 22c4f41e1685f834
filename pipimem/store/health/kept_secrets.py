"""Secrets that stand in files, transcripts, states and titles: place, kind and count."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from pipimem.errors import PipimemError
from pipimem.settings import SecretSettings
from pipimem.store import identity
from pipimem.store.channel import ChannelStore
from pipimem.store.disk import appended_files, presence
from pipimem.store.health.finding import Finding, worth_knowing, wrong
from pipimem.store.transcript.log import DAMAGED
from pipimem.store.transcript.message_line import parsed
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.secrets import NO_LIST, redacted, secrets

Moved = Callable[[int], None]
"""Is told how many bytes were looked through so far."""

# Of a channel's transcript so many of the newest bytes are looked through: about 10 s at most.
_MOST_BYTES = 64 * 1024 * 1024
_REPORT_EVERY = 256 * 1024
_STATE = ".pipimem/state.db"
_LOGS = ("log.jsonl", DAMAGED)
_PLACES = 3  # of so many it is said where they stand


@dataclass(slots=True)
class _Found:
    """The secrets of one kind in a file, and the first places where they stand."""

    count: int = 0
    places: list[str] = field(default_factory=list)

    def add(self, place: str) -> None:
        self.count += 1
        if len(self.places) <= _PLACES and place not in self.places:
            self.places.append(place)

    def where(self) -> str:
        rest = "" if len(self.places) <= _PLACES else ", …"
        return ", ".join(self.places[:_PLACES]) + rest


def secrets_in_file(path: Path, text: str, own: SecretSettings = NO_LIST) -> Iterator[Finding]:
    """One finding for each kind of secret in a text that people may edit.

    `own` is what the workspace masks besides.
    """
    lines = text.split("\n")
    found: dict[str, _Found] = {}
    line, reached = 1, 0
    for one in secrets(text, own):
        line += text.count("\n", reached, one.start)
        reached = one.start
        is_title = lines[line - 1].startswith("#")
        place = f"line {line} (a title)" if is_title else f"line {line}"
        found.setdefault(one.kind, _Found()).add(place)
    for kind, several in found.items():
        where = f"{path}, {several.places[0].removesuffix(' (a title)')}"
        what = f"{_counted(kind, several)} masked when injected, but take it out of the file"
        yield _finding(where, kind, several, what)


def logged_bytes(workspace: WorkspaceStore) -> int:
    """How many bytes `secrets_in_logs` will look through."""
    return sum(_size(path) for folder in _folders(workspace) for path in _all_files(folder))


def secrets_in_logs(
    workspace: WorkspaceStore, moved: Moved, own: SecretSettings = NO_LIST
) -> Iterator[Finding]:
    """One finding for each kind in a channel's transcript, state and title.

    Reads the newest 64 MB of a transcript; a finding says what was left out.
    """
    done = 0
    for folder in _folders(workspace):
        try:
            yield from _in_title(folder, own)
            for name in _LOGS:
                parts, left = _newest(appended_files.parts(folder / name))
                if left:
                    what = f"{left:,} bytes of older parts were not looked through for secrets"
                    yield worth_knowing(folder / name, what)
                yield from _in_parts(folder / name, parts, done, moved, own)
                done += sum(map(_size, parts))
            yield from _in_state(workspace, folder, own)
            done += _size(folder / _STATE)
            moved(done)
        except (PipimemError, OSError):  # reported by the check of what cannot be read
            continue


def _in_parts(
    path: Path, parts: Iterable[Path], before: int, moved: Moved, own: SecretSettings
) -> Iterator[Finding]:
    """The findings of one log; `before` bytes were looked through before it."""
    found: dict[str, _Found] = {}
    read = told = 0
    for part in parts:
        for data in appended_files.lines(part):
            _collect(_said(data), found, own)
            read += len(data)
            if read - told >= _REPORT_EVERY:  # drawing a bar takes longer than reading a line
                told = read
                moved(before + read)
    for kind, several in found.items():
        yield _finding(path, kind, several, _logged(kind, several, path.name))


def _in_state(workspace: WorkspaceStore, folder: Path, own: SecretSettings) -> Iterator[Finding]:
    """The findings in past texts and in what changes say of them, each secret counted once."""
    known = identity.load(folder)
    if known is None:
        return
    found: dict[str, _Found] = {}
    seen: set[str] = set()
    with ChannelStore.open(workspace, known.id, create=False).reading() as working_copy:
        for text in working_copy.state.strings():
            for one in secrets(text, own):
                value = text[one.start : one.end]
                if value not in seen:
                    seen.add(value)
                    found.setdefault(one.kind, _Found()).add("in a past text or a change")
    for kind, several in found.items():
        yield _finding(folder / _STATE, kind, several, _logged(kind, several, _STATE))


def _logged(kind: str, several: _Found, name: str) -> str:
    if name == DAMAGED:
        ways = "`pipimem forget CHANNEL TEXT` removes it"
    elif name == "log.jsonl":
        ways = "`pipimem forget CHANNEL --message ID` removes a message"
    else:
        ways = "undo needs it; `pipimem forget CHANNEL TEXT` removes it, and undo ends there"
    return f"{_counted(kind, several)} on the disk as it was written; {ways}"


def _counted(kind: str, several: _Found) -> str:
    if several.count == 1:
        return f"a secret stands here ({kind}), {several.where()}; it is"
    return f"{several.count} secrets of one kind stand here ({kind}), {several.where()}; they are"


def _finding(where: object, kind: str, several: _Found, what: str) -> Finding:
    return replace(wrong(where, what), kind=kind, count=several.count)


def _collect(
    texts: Iterable[tuple[str, str]], found: dict[str, _Found], own: SecretSettings
) -> None:
    for place, text in texts:
        for one in secrets(text, own):
            found.setdefault(one.kind, _Found()).add(place)


def _in_title(folder: Path, own: SecretSettings) -> Iterator[Finding]:
    known = identity.load(folder)
    found: dict[str, _Found] = {}
    if known is not None:
        _collect([("the channel's title", known.title)], found, own)
    for kind, several in found.items():
        what = f"{_counted(kind, several)} shown by commands; open the channel with another title"
        yield _finding(folder / ".pipimem" / "channel.json", kind, several, what)


def _said(data: bytes) -> Iterator[tuple[str, str]]:
    """The texts of a line of a transcript; all of a line that is no message."""
    message = parsed(data)
    if message is None:
        yield "a damaged line", data.decode("utf-8", "replace")
        return
    place = f"message {redacted(message.id)}"
    for text in (message.content, message.speaker, message.session):
        if text:
            yield place, text


def _folders(workspace: WorkspaceStore) -> list[Path]:
    """The channels' folders; a link is reported by the check of links, and not followed."""
    top = workspace.channels_folder
    try:
        return [
            path
            for path in sorted(top.iterdir())
            if presence.is_folder(path) and not presence.is_link(path)
        ]
    except OSError:  # reported by the check of this folder
        return []


def _all_files(folder: Path) -> list[Path]:
    try:
        parts = [_newest(appended_files.parts(folder / name))[0] for name in _LOGS]
    except (PipimemError, OSError):
        return []
    return [*itertools.chain.from_iterable(parts), folder / _STATE]


def _newest(parts: list[Path]) -> tuple[list[Path], int]:
    """The newest parts that are read, oldest first, and the bytes of those that are not."""
    sizes = [_size(part) for part in parts]
    kept, total = len(parts), 0
    while kept and (total + sizes[kept - 1] <= _MOST_BYTES or kept == len(parts)):
        kept -= 1
        total += sizes[kept]
    return parts[kept:], sum(sizes[:kept])


def _size(path: Path) -> int:
    return path.stat().st_size if presence.exists(path) else 0
