"""The resources of the MCP server: notes of channels, read anew only where a file changed."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from pipimem.errors import ChannelError, NothingFound
from pipimem.mcp.uris import WORKSPACE_URI, ResourceUri, parsed, uris_of
from pipimem.notes.headings import kind_of
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Trust
from pipimem.runtime.debug_lines import debug_line
from pipimem.runtime.entry_list import ListedEntry, listed_entries
from pipimem.runtime.open_channel import opened
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

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
            channel = opened(await self.pipimem.channel(name, create=False))
        except ChannelError:
            # The error's own text names the channels there are.
            raise NothingFound("There is no such conversation here.") from None
        notes = await channel.notes()
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
