"""What becomes of secrets and of orders in talk: written texts, entries and contexts."""

from __future__ import annotations

import json
import os
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from front_door import entries, message, method, opened
from model_server import BelievingModel, Item

_BLOCK = re.compile(r"<(pipimem-memory-[a-z]+)>\n.*?\n</\1>", re.DOTALL)


async def masked(workspace: str, texts: list[str]) -> list[str]:
    """Write each text as a message, and return it as the transcript has it."""
    async with opened(workspace) as bot:
        channel = await bot.channel("texts", kind="group")
        said = [message("user", text, id=f"t{n}", speaker="Ines") for n, text in enumerate(texts)]
        await method(channel, "take_in", "talk.take_in")(said)
    written = {}
    for path in Path(workspace, "channels", "texts").glob("log*.jsonl"):
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        written.update({row["id"]: row["content"] for row in rows})
    return [written[f"t{n}"] for n in range(len(texts))]


async def poisoned(workspace: str, talks: list[dict[str, Any]], now: str, model: bool) -> Any:
    """Let a channel learn each talk, then ask about it in a new session.

    A talk has `messages`, `kind`, a `question`, its `asker`, and the `items` that a believing model
    learns. With `model` that model writes the memory, else the offline rules do.
    """
    results = []
    with BelievingModel() if model else nullcontext() as server:
        if server:
            os.environ |= {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "x"}
        async with opened(workspace, now, model="openai/test" if model else "offline") as bot:
            for number, talk in enumerate(talks):
                if server:
                    server.learns = [Item(**item) for item in talk["items"]]
                    server.everywhere = talk["items"][0]["text"]
                channel = await bot.channel(f"room-{number}", kind=talk["kind"])
                results.append(await _outcome(channel, talk, Path(workspace)))
    return results


async def _outcome(channel: Any, talk: dict[str, Any], workspace: Path) -> dict[str, Any]:
    said = [dict(one) for one in talk["messages"]]
    made = [message(one.pop("role"), one.pop("content"), **one) for one in said]
    await channel.after_turn(None, made)
    receipt = await channel.before_compaction()
    if receipt.may_compact:
        await channel.compacted(receipt)
    turn = await channel.before_turn(talk["question"], speaker=talk["asker"])
    await channel.after_turn(turn, [])
    later = await channel.before_turn("…", speaker=talk["asker"])
    prompts = (turn.context, later.context, await channel.session_prompt())
    folder = workspace / "channels" / channel.id
    notes = [folder / name for name in ("SESSION.md", "HISTORY.md")]
    return {
        "state": receipt.state,
        "reason": receipt.reason,
        "entries": await entries(channel),
        "notes": "\n".join(path.read_text("utf-8") for path in notes if path.exists()),
        "standing": later.standing,
        "context": turn.context,
        "outside": "".join(_BLOCK.sub("", prompt) for prompt in prompts),
    }
