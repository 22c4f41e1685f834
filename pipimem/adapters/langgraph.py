"""LangGraph: the entries of one channel's MEMORY.md as a `BaseStore`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from pipimem import ArgumentError, Channel, Kind, ListedEntry, PipimemError

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
    )
except ImportError as error:
    raise ImportError(
        "pipimem.adapters.langgraph needs LangGraph: pip install 'pipimem[langchain]'"
    ) from error

# A key that somebody chose stands in front of the text: - `users/7/theme`: dark
_KEYED = re.compile(r"`(?P<path>[^`\s]+)`: (?P<text>.+)", re.DOTALL)
# What may stand in a part of a path as it is.
_ESCAPED = re.compile(r"[%/`\s\x00-\x1f]")
# When something was stored that a person typed.
_UNKNOWN = datetime.fromtimestamp(0, UTC)
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: value == other,
    "$ne": lambda value, other: value != other,
    "$gt": lambda value, other: value > other,
    "$gte": lambda value, other: value >= other,
    "$lt": lambda value, other: value < other,
    "$lte": lambda value, other: value <= other,
}


class LangGraphStore(BaseStore):
    """What a graph puts here stands as an entry in MEMORY.md, and what stands there is found here.

    All is in `namespace` or below it. `{"text": "…"}` is written as that sentence, with a `kind`
    under the heading of that kind; any other value as JSON on one line. The key stands in front,
    of a UUID the first eight characters, and both lead to the item. An entry that was not put here
    has its id as its key.

    What a person typed is read, but not changed: `put` and `delete` raise `PipimemError` then.
    Make it in the event loop; `put`, `get` and `search` are for other threads.
    """

    supports_ttl = False

    def __init__(self, channel: Channel, namespace: Sequence[str] = ("memory",)) -> None:
        self.channel = channel
        self.namespace = tuple(namespace)
        self._loop = asyncio.get_running_loop()
        self._writing = asyncio.Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry operations out for another thread. Raises `RuntimeError` in the loop's own."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            raise RuntimeError("In the event loop call aget, asearch, aput and adelete instead.")
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries operations out in their order.

        Raises `ArgumentError` for a put outside of the namespace, `PipimemError` for one that
        memory refuses; those before it are carried out.
        """
        return [await self._carried_out(op) for op in ops]

    async def _carried_out(self, op: Op) -> Result:
        match op:
            case GetOp():
                return await self._got(op)
            case SearchOp():
                return await self._found(op)
            case PutOp():
                async with self._writing:
                    await self._put(op)
                return None
            case ListNamespacesOp():
                return await self._namespaces(op)
            case _:
                raise ArgumentError(f"There is no operation {type(op).__name__} here.")

    async def _items(self) -> list[_Stored]:
        return [_stored(entry, self.namespace) for entry in await self.channel.entries()]

    async def _item(self, namespace: tuple[str, ...], key: str) -> _Stored | None:
        label = _label(key)
        for one in await self._items():
            if one.namespace == namespace and one.key in (key, label):
                return one
        return None

    async def _got(self, op: GetOp) -> Item | None:
        stored = await self._item(op.namespace, op.key)
        return stored.item(op.key) if stored else None

    async def _found(self, op: SearchOp) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        found = [
            one
            for one in await self._items()
            if one.namespace[:depth] == op.namespace_prefix and _admits(one.value, op.filter or {})
        ]
        ranked = await self._ranked(op.query, found) if op.query else [(one, None) for one in found]
        shown = ranked[op.offset : op.offset + op.limit]
        return [one.search_item(score) for one, score in shown]

    async def _ranked(
        self, query: str, items: Sequence[_Stored]
    ) -> list[tuple[_Stored, float | None]]:
        """What a query finds of some items, best first, each with its score."""
        if not items:
            return []
        count = len(await self.channel.entries())
        hits = await self.channel.search(query, count=count, where="notes")
        known = {one.name: one for one in items}
        return [(known[hit.item.id], hit.score) for hit in hits if hit.item.id in known]

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = {
            one.namespace[: op.max_depth]
            for one in await self._items()
            if all(_matches(condition, one.namespace) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]

    async def _put(self, op: PutOp) -> None:
        depth = len(self.namespace)
        if op.namespace[:depth] != self.namespace:
            raise ArgumentError(
                f"This store is {'/'.join(self.namespace)} and what is below it, the memory of one "
                f"conversation: nothing is put into {'/'.join(op.namespace)}."
            )
        if not op.key:
            raise ArgumentError("The key must not be empty.")
        stored = await self._item(op.namespace, op.key)
        if op.value is not None:
            path = [*op.namespace[depth:], _label(op.key)]
            await self._write(stored, *_written(path, op.value))
        elif stored is not None:
            await self.channel.take_out(stored.entry.id)

    async def _write(self, stored: _Stored | None, text: str, kind: Kind | None) -> None:
        """Puts a text in the place of an item, or adds it."""
        if stored is None:
            done = await self.channel.remember(text, kind=kind or Kind.FACT)
        elif stored.entry.text == text and kind in (None, stored.entry.kind):
            return
        else:
            done = await self.channel.update(stored.entry.id, text, kind=kind)
        if done.refused:
            raise PipimemError(f"Not put: {'; '.join(done.refused)}.")
        if done.quoted:
            raise PipimemError(
                "The value reads like an instruction to the bot: it is kept as a quote without its "
                "key."
            )


@dataclass(frozen=True, slots=True)
class _Stored:
    """An entry as an item of the store."""

    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any]
    entry: ListedEntry

    @property
    def name(self) -> str:
        """The id under which searches find it."""
        return f"memory:{self.entry.id}"

    def item(self, key: str) -> Item:
        time = self.entry.since or _UNKNOWN
        return Item(
            value=self.value, key=key, namespace=self.namespace, created_at=time, updated_at=time
        )

    def search_item(self, score: float | None) -> SearchItem:
        time = self.entry.since or _UNKNOWN
        return SearchItem(self.namespace, self.key, self.value, time, time, score)


def _stored(entry: ListedEntry, root: tuple[str, ...]) -> _Stored:
    keyed = _KEYED.fullmatch(entry.text)
    if keyed is None:
        return _Stored(root, entry.id, _value(entry.text, entry.kind), entry)
    *below, key = map(unquote, keyed["path"].split("/"))
    return _Stored((*root, *below), key, _value(keyed["text"], entry.kind), entry)


def _value(text: str, kind: Kind | None) -> dict[str, Any]:
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:  # a person is writing in it
            value = None
        if isinstance(value, dict):
            return value
    return {"text": text, "kind": str(kind)} if kind else {"text": text}


def _written(path: Sequence[str], value: Mapping[str, Any]) -> tuple[str, Kind | None]:
    """The text of an entry for a value, and its kind if the value names one.

    Raises `ArgumentError` for a value that is no JSON.
    """
    kind = Kind(value["kind"]) if value.get("kind") in [*Kind] else None
    written = value.get("text", "")
    if set(value) - {"text", "kind"} or not _is_plain(written):
        try:
            written = json.dumps(dict(value), ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"The value must be JSON: {error}.") from None
        # What stands in a comment is no memory.
        written = written.replace("<!--", "\\u003c!--")
    return f"`{'/'.join(map(_escaped, path))}`: {written}", kind


def _is_plain(text: object) -> bool:
    """Whether a text can be written as a bullet of Markdown and read from it again as it is."""
    if not isinstance(text, str) or not text or text.startswith("{") or "<!--" in text:
        return False
    return text == " ".join(text.split())


def _label(key: str) -> str:
    """What stands for a key in a file that people read: of a UUID the first eight characters."""
    try:
        return str(UUID(key))[:8]
    except ValueError:
        return key


def _escaped(part: str) -> str:
    return _ESCAPED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), part)


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with a path, in which `*` stands for any part."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    part = namespace[start : start + len(path)]
    return all(wanted in ("*", found) for wanted, found in zip(path, part, strict=True))


def _admits(value: object, wanted: object) -> bool:
    """Whether a value is what a filter wants: equal, in its parts, or by operators."""
    if not isinstance(wanted, Mapping):
        return value == wanted
    if any(str(name).startswith("$") for name in wanted):
        return all(_compares(value, name, other) for name, other in wanted.items())
    parts = value if isinstance(value, Mapping) else {}
    return all(name in parts and _admits(parts[name], one) for name, one in wanted.items())


def _compares(value: object, name: str, other: object) -> bool:
    if name not in _COMPARED:
        raise ArgumentError(f"A filter has {', '.join(_COMPARED)}, not {name}.")
    try:
        return bool(_COMPARED[name](value, other))
    except TypeError:  # not to be compared, such as a text and a number
        return False
