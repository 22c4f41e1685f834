"""The URIs of the resources: each resource has one, whatever its channel's id holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pipimem.errors import NothingFound
from pipimem.notes.kinds import File

_PREFIX = "pipimem://"
_FORM = re.compile(r"pipimem://[^/?#]+(/[^/?#]+)+")
_WORKSPACE = "workspace"
NAMES: Mapping[File, str] = {
    File.SESSION: "session",
    File.MEMORY: "memory",
    File.HISTORY: "history",
}
_FILES = {name: file for file, name in NAMES.items()}
_FORMS = (
    "pipimem://CHANNEL/session, pipimem://CHANNEL/memory, pipimem://CHANNEL/history, "
    "pipimem://CHANNEL/memory/SECTION and pipimem://workspace/memory"
)


@dataclass(frozen=True, slots=True)
class ResourceUri:
    """What a URI names: a file of a channel, or a section of its MEMORY.md.

    Without a channel it is the MEMORY.md that all channels of the workspace share.
    """

    channel: str | None
    file: File
    section: str = ""

    def __str__(self) -> str:
        """The canonical URI: all but letters, digits and `-._~` is percent-encoded as UTF-8."""
        parts = [_host(self.channel), NAMES[self.file]]
        if self.section:
            parts.append(quote(self.section, safe=""))
        return _PREFIX + "/".join(parts)

    @property
    def mime_type(self) -> str:
        """A section is a list of entries, a file is what stands in it."""
        return "application/json" if self.section else "text/markdown"


def parsed(text: str) -> ResourceUri:
    """The resource of a URI; another percent-encoding of the same names is understood.

    Raises `NothingFound` for a URI that names no resource of this server.
    """
    found = None
    if _FORM.fullmatch(text) is not None:
        host, *path = text.removeprefix(_PREFIX).split("/")
        with suppress(UnicodeDecodeError):
            names = [unquote(name, errors="strict") for name in path]
            found = _of_workspace(names) if host == _WORKSPACE else _of_channel(host, names)
    if found is None:
        raise NothingFound(
            f"{text[:200]!r} is no resource of this server. There are {_FORMS}; what is no letter, "
            "digit or one of -._~ in an id is percent-encoded (/ is %2F)."
        )
    return found


def _of_workspace(names: list[str]) -> ResourceUri | None:
    return WORKSPACE_URI if names == ["memory"] else None


def _of_channel(host: str, names: list[str]) -> ResourceUri | None:
    channel = unquote(host, errors="strict")
    match names:
        case ["memory", section]:
            return ResourceUri(channel, File.MEMORY, section)
        case [name] if name in _FILES:
            return ResourceUri(channel, _FILES[name])
    return None


WORKSPACE_URI = ResourceUri(None, File.MEMORY)


def uris_of(channel: str) -> tuple[ResourceUri, ...]:
    """The three files of a channel."""
    return tuple(ResourceUri(channel, file) for file in _FILES.values())


def _host(channel: str | None) -> str:
    if channel is None:
        return _WORKSPACE
    # A channel of this name would be taken for the workspace; encoded it is another string.
    return "%77orkspace" if channel == _WORKSPACE else quote(channel, safe="")
