"""The price: how much of public talk is called an attack, or kept as a quote only.

LoCoMo, BEAM and MemoryBank are said in channels, forty messages a window. The memory is written by
the offline rules, then by a model that keeps each message word for word: as a line of history, and
as a fact where a person said it. What was not kept is read from the change log and, where a
version has it, from `channel.notes.left_out()`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pipimem import Channel, Kind, Message, Pipimem, Trust
from pipimem.assistant import Call, Consolidate, Consolidated, HistoryItem, Learned

from benchmarks.poison.contexts import SETTINGS

SETS: dict[str, tuple[str, Literal["dm", "group"]]] = {
    "LoCoMo": ("locomo-*", "group"),
    "MemoryBank": ("memorybank-*", "group"),
    "BEAM": ("beam-*", "dm"),
}
# Reasons that call a text an attack, in the words of any version.
_ATTACK = re.compile(r"instruction|attack|inject|out of text that nobody|encoded|hidden|poison")
_WINDOW = 40
_SECONDS = 600.0
_FACT_CHARS, _LINE_CHARS = 300, 240


@dataclass(frozen=True, slots=True)
class KeepsEverything:
    """An assistant that takes each message of a window into memory, word for word."""

    paid: bool = False
    name: str = "keeps everything"

    async def answer(self, task: Any, _call: Call) -> Any:
        """Return a line of history for each message, and a fact for each of a person."""
        if not isinstance(task, Consolidate):
            raise NotImplementedError(type(task).__name__)
        said = [one for one in task.window if one.content.strip()]
        # Explicit, so that a copy of the message is as good as other words.
        facts = tuple(
            Learned(
                Kind.FACT, one.content[:_FACT_CHARS], (one.id,), speaker=one.speaker, explicit=True
            )
            for one in said
            if one.role == "user"
        )
        lines = tuple(HistoryItem(one.content[:_LINE_CHARS], (one.id,)) for one in said)
        return Consolidated(facts, (), "", lines, {})


@dataclass(slots=True)
class Price:
    """Messages, quotes, and all reasons why items stay out.

    `attacks` has a line for each message that was called an attack, `not_learnt` are messages
    of windows whose consolidation failed.
    """

    messages: int = 0
    not_learnt: int = 0
    attacks: dict[str, str] = field(default_factory=dict)
    quotes: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str, message: str, text: str) -> None:
        """Count an item that was not kept, under its reason without ids and numbers."""
        plain = re.sub(r"\S*\d\S*", "…", reason.split(": ")[0].split(", ")[0])
        self.reasons[plain] += 1
        if _ATTACK.search(reason):
            self.attacks[message] = f"{reason}: {text}"

    @property
    def per_thousand(self) -> float:
        """Attack calls per 1,000 messages."""
        return 1000 * len(self.attacks) / max(1, self.messages)


async def prices(root: Path, evals: Path, *, most: int = 0) -> dict[tuple[str, str], Price]:
    """Return the price by (set, writer); with `most` of so many messages of each talk."""
    found: defaultdict[tuple[str, str], Price] = defaultdict(Price)
    for writer in ("offline rules", "keeps everything"):
        folder = root / writer.replace(" ", "-")
        (folder / "channels").mkdir(parents=True)
        assistant = KeepsEverything() if writer == "keeps everything" else None
        async with Pipimem(folder, assistant=assistant, settings=SETTINGS) as pipimem:
            for name, path in _talks(evals):
                said = _messages(path)[: most or None]
                price = found[name, writer]
                price.messages += len(said)
                kind = SETS[name][1]
                for at in range(0, len(said), _WINDOW):
                    channel = await pipimem.channel(f"{path.stem}-{at}", kind=kind)
                    await _learn(channel, said[at : at + _WINDOW], price)
    return dict(found)


async def _learn(channel: Channel, said: Sequence[Message], price: Price) -> None:
    texts = {message.id: message.content for message in said}
    await channel.after_turn(None, list(said))
    receipt = await channel.before_compaction(deadline=_SECONDS)
    if receipt.state != "consolidated":
        price.not_learnt += len(said)
        price.reasons[f"window failed: {receipt.reason[:80]}"] += 1
    for item in await channel.notes.left_out():
        # A line of the sheet names no message.
        ids = item.sources or [name for name, text in texts.items() if item.text in text]
        _add(price, channel, item.reason, ids, {**texts, "": item.text})
    entries = await channel.notes.entries()
    price.quotes += sum(entry.trust == Trust.QUOTED for entry in entries)


def _add(
    price: Price, channel: Channel, reason: str, ids: Sequence[str], texts: Mapping[str, str]
) -> None:
    first = ids[0] if ids else ""
    price.add(reason, f"{channel.id} {first}", texts.get(first, "")[:160])


def _talks(evals: Path) -> Iterator[tuple[str, Path]]:
    for name, (pattern, _) in SETS.items():
        for folder in (evals / "transcripts", evals / "beam" / "transcripts"):
            for path in sorted(folder.glob(f"{pattern}.jsonl")):
                yield name, path


def _messages(path: Path) -> list[Message]:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [
        Message(
            row["role"],
            row["content"],
            id=row["id"],
            time=datetime.fromisoformat(row["ts"]),
            speaker=row["name"] if row["role"] == "user" else "",
        )
        for row in rows
    ]


def print_prices(found: dict[tuple[str, str], Price], *, names: bool) -> None:
    """Print the price of each set and writer, the reasons, and each attack call if asked."""
    heads = ("talk, writer", "messages", "not learnt", "attack calls", "per 1,000", "quotes")
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for (name, writer), price in found.items():
        calls = f"{len(price.attacks)} | {price.per_thousand:.2f}"
        said = f"{price.messages} | {price.not_learnt}"
        print(f"| {name}, {writer} | {said} | {calls} | {price.quotes} |")
    for (name, writer), price in found.items():
        reasons = ", ".join(f"{reason} ({n})" for reason, n in price.reasons.most_common(8))
        print(f"{name}, {writer}: {reasons or 'nothing left out'}")
        for line in price.attacks.values() if names else ():
            print(f"  {line}")
