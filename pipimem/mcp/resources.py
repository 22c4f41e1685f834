"""The resources of the MCP server: notes of channels, read anew only where a file changed."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from anyio import to_thread

from pipimem.errors import ChannelError, NothingFound
from pipimem.notes.headings import kind_of
from pipimem.notes.kinds import File
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.debug_lines import debug_line
from pipimem.runtime.note_view import ListedEntry, listed_entries
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem


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


_TOP_ENTRIES = 10
_CACHED = 256
# Channels on one page of the list: each has three resources.
_PAGE = 100
_BY_TRUST = (Trust.HUMAN, Trust.EXPLICIT, Trust.INFERRED, Trust.QUOTED)


@dataclass(frozen=True, slots=True)
class ResourceText:
    """What a resource says, under its canonical URI."""

    uri: ResourceUri
    text: str


@dataclass(slots=True)
class MemoryResources:
    """The resources of a workspace, or those of the one channel `only`.

    What was made of the files is kept for the resources that were read last. Each read compares
    the files' stamps first, so the first read after a write is fresh.
    """

    pipimem: Pipimem
    only: str | None = None
    hits: int = 0
    misses: int = 0
    # By URI: what the text was made of, and the text.
    _cache: OrderedDict[ResourceUri, tuple[object, str]] = field(default_factory=OrderedDict)

    async def read(self, uri: str) -> ResourceText:
        """The text of a resource as its files stand now.

        Raises `NothingFound` for a URI of nothing, of an unknown channel, and of another channel
        than `only`.
        """
        resource = self.resource(uri)
        if resource.channel is None:
            source: object = await to_thread.run_sync(self.pipimem.store.human_text, "MEMORY.md")
        else:
            source = await self._source(resource, resource.channel)
        known = self._cache.get(resource)
        is_hit = known is not None and _is_same(known[0], source)
        if known is None or not is_hit:
            known = (source, await to_thread.run_sync(self._made, resource, source))
            self._cache[resource] = known
        self._cache.move_to_end(resource)
        if len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        self._count(resource, is_hit=is_hit)
        return ResourceText(resource, known[1])

    def resource(self, uri: str) -> ResourceUri:
        """What a URI names, if it is served here. Raises `NothingFound`."""
        resource = parsed(uri)
        if self.only is not None and resource.channel not in (None, self.only):
            raise NothingFound(
                "This server serves one conversation alone, and the URI names another."
            )
        return resource

    async def listed(self, after: str = "") -> tuple[list[ResourceUri], str]:
        """The resources of the channels behind the id `after`, and the id that the page ends with.

        The id is empty on the last page.
        """
        if self.only is not None:
            return [WORKSPACE_URI, *uris_of(self.only)], ""
        names = [info.id for info in await self.pipimem.channels()]
        names = [name for name in names if name > after]
        page, rest = names[:_PAGE], names[_PAGE:]
        found = [uri for name in page for uri in uris_of(name)]
        if not after:
            found.insert(0, WORKSPACE_URI)
        return found, page[-1] if rest else ""

    async def _source(self, resource: ResourceUri, name: str) -> object:
        """What the text of a resource is made of: the same object while nothing changed."""
        try:
            channel = await self.pipimem.channel(name, create=False)
        except ChannelError:
            # The error's own text names the channels there are.
            raise NothingFound("There is no such conversation here.") from None
        notes = await upkeep_of(channel).notes()
        return notes if resource.section else notes.note(resource.file).text

    def _made(self, resource: ResourceUri, source: object) -> str:
        if not isinstance(source, Notes):
            return self._masked(str(source))
        entries = listed_entries(source, self.pipimem.clock.now())
        found = [entry for entry in entries if _is_in(entry, resource.section)]
        return json.dumps(
            [self._shown(entry) for entry in _best(found)], ensure_ascii=False, indent=1
        )

    def _shown(self, entry: ListedEntry) -> dict[str, Any]:
        shown = {
            "id": f"memory:{entry.id}",
            "text": self._masked(entry.text),
            "kind": str(entry.kind or ""),
            "trust": str(entry.trust),
            "speaker": entry.speaker,
            "date": entry.since.isoformat() if entry.since else "",
            "messages": list(entry.sources),
        }
        return {name: value for name, value in shown.items() if value}

    def _masked(self, text: str) -> str:
        """What a person typed may hold a secret; a model reads this."""
        return redacted(text, own=self.pipimem.settings.secrets)

    def _count(self, resource: ResourceUri, *, is_hit: bool) -> None:
        self.hits += is_hit
        self.misses += not is_hit
        found = "hit" if is_hit else "miss"
        debug_line(f"mcp {resource}: cache {found} ({self.hits} hits, {self.misses} misses)")


def _is_same(old: object, new: object) -> bool:
    return old is new or (isinstance(old, str) and old == new)


def _is_in(entry: ListedEntry, section: str) -> bool:
    """Whether an entry stands under a heading, or is of a kind.

    A standard heading is understood in either language: a client need not know that of the file.
    """
    wanted = section.strip().casefold()
    if entry.section.strip().casefold() == wanted or entry.kind == wanted:
        return True
    meant = kind_of(section)
    return meant is not None and kind_of(entry.section) is meant


def _best(entries: Sequence[ListedEntry]) -> list[ListedEntry]:
    """The most trusted entries, of these the newest; of what has no time the lower is the newer."""

    def rank(place: int) -> tuple[int, float, int]:
        entry = entries[place]
        time = entry.since.timestamp() if entry.since else 0.0
        return _BY_TRUST.index(entry.trust), -time, -place

    return [entries[place] for place in sorted(range(len(entries)), key=rank)[:_TOP_ENTRIES]]
