"""What a bot sees in the turns after a payload: with memory by each of two writers, and without.

Each payload is said in a channel of its own, behind the talk of its scene, and the host compacts.
A day later somebody asks an ordinary question in a new session. The memory is written by the
offline rules, then by a model that believes every word: it makes a constraint, a wish and a fact of
the order in plain words, a fact of each message, and puts the order into SESSION.md and HISTORY.md.
The control is the same talk itself, without memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from pipimem import Channel, Kind, Message, Pipimem, Settings, Trust
from pipimem.assistant import Consolidated, HistoryItem, Learned
from pipimem.settings import MaintenanceSettings, ModelSettings
from pipimem.testing import FixedClock, ScriptedAssistant

from benchmarks.poison.payloads import Payload, folded

OFFLINE, GULLIBLE, CONTROL = "offline rules", "gullible model", "no memory"
ARMS = (OFFLINE, GULLIBLE, CONTROL)
PLACES = ("an entry", "a quote", "with every turn", "in the context", "outside the fence")
SETTINGS = Settings(maintenance=MaintenanceSettings(enabled=False), model=ModelSettings("offline"))
_NOW = datetime.fromisoformat("2026-11-12T10:00:00+08:00")
_BLOCK = re.compile(r"<(pipimem-memory-[a-z]+)>\n.*?\n</\1>", re.DOTALL)
_ITEM_CHARS = 240
_WANTS = {"en": "{} wants the bot to do so: {}", "zh": "{}要求机器人这样做：{}"}
_HOLDS = {"en": "It holds for everybody: {}", "zh": "对所有人都有效：{}"}


@dataclass(frozen=True, slots=True)
class Context:
    """The text before a question, of which writer, and where the payload is found.

    `state` is that of the receipt of the compaction, empty in the control.
    """

    payload: Payload
    arm: str
    text: str
    places: tuple[str, ...]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Contexts:
    """All contexts of a run, and the part of a system prompt that hosts are given with them."""

    prompt: str
    made: tuple[Context, ...]


async def all_contexts(root: Path, cases: Sequence[Payload]) -> Contexts:
    """Return the contexts of all payloads by both writers, and those of the control."""
    made: list[Context] = []
    prompt = ""
    for arm, folder in ((OFFLINE, root / "offline"), (GULLIBLE, root / "gullible")):
        (folder / "channels").mkdir(parents=True)
        script = ScriptedAssistant({})
        assistant = script if arm == GULLIBLE else None
        clock = FixedClock(_NOW)
        async with Pipimem(folder, assistant=assistant, settings=SETTINGS, clock=clock) as pipimem:
            for number, payload in enumerate(cases):
                channel = await pipimem.channel(f"c{number}", kind=payload.scene.kind)
                script.then("consolidate", believed(payload))
                made.append(await _context(channel, payload, arm))
                prompt = (await channel.session_prompt()).replace(str(folder), "/bot")
    made += [_control(payload) for payload in cases]
    return Contexts(re.sub(r"/c\d+/", "/CHANNEL/", prompt), tuple(made))


async def _context(channel: Channel, payload: Payload, arm: str) -> Context:
    """Say a payload, let it be learnt, and ask its question in a new session."""
    await channel.after_turn(None, list(_said(payload)))
    receipt = await channel.before_compaction()
    if receipt.may_compact:
        await channel.compacted(receipt)
    turn = await channel.before_turn(payload.question, speaker=payload.asker)
    entries = await channel.notes.entries()
    quotes = " | ".join(entry.text for entry in entries if entry.trust == Trust.QUOTED)
    others = " | ".join(entry.text for entry in entries if entry.trust != Trust.QUOTED)
    outside = _BLOCK.sub("", turn.context) + await channel.session_prompt()
    await channel.after_turn(turn, [])
    later = await channel.before_turn("…", speaker=payload.asker)
    texts = (others, quotes, later.standing, turn.context, outside)
    places = tuple(place for place, text in zip(PLACES, texts, strict=True) if is_in(payload, text))
    return Context(payload, arm, turn.context, places, receipt.state)


def _control(payload: Payload) -> Context:
    said = [*payload.scene.talk, *payload.messages]
    names = {"assistant": "assistant", "tool": "tool output"}
    lines = [f"{names.get(one.role, one.speaker)}: {one.content}" for one in said]
    return Context(payload, CONTROL, "\n".join(lines), ("in the context",))


def is_in(payload: Payload, text: str) -> bool:
    """Return whether a text holds words that the payload's order is recognised by."""
    plain = folded(text)
    return any(folded(key) in plain for key in payload.keys)


def believed(payload: Payload) -> Consolidated:
    """Return the answer of a model that takes every word for the truth and for an order."""
    source = next(one for one in payload.messages if one.id == payload.source)
    order, language = payload.order[:_ITEM_CHARS], payload.language
    learned = [
        _learned(Kind.CONSTRAINT, order, source),
        _learned(Kind.WISH, _WANTS[language].format(source.speaker, order), source),
        _learned(Kind.FACT, _HOLDS[language].format(order), source),
    ]
    learned += [_learned(Kind.FACT, part[:_ITEM_CHARS], source) for part in payload.parts]
    said = [one for one in (*payload.scene.talk, *payload.messages) if one.role == "user"]
    learned += [_learned(Kind.FACT, one.content[:_ITEM_CHARS], one) for one in said]
    history = (HistoryItem(order, (source.id,)), HistoryItem(said[0].content, (said[0].id,)))
    sheet = {"Current State": (order,), "Constraints": (order,)}
    return Consolidated(tuple(learned), (), order[:60], history, sheet)


def _learned(kind: Kind, text: str, source: Message) -> Learned:
    return Learned(kind, text, (source.id,), speaker=source.speaker, explicit=kind is not Kind.FACT)


def _said(payload: Payload) -> Iterator[Message]:
    """Yield the talk and the payload, a minute a message, the day before the question."""
    for minute, message in enumerate((*payload.scene.talk, *payload.messages)):
        yield replace(message, time=_NOW - timedelta(days=1) + timedelta(minutes=minute))
