"""Claude with pipimem behind its memory tool: told something, asked for it in the next session.

    pip install 'pipimem[anthropic]'
    python examples/agents/anthropic_agent.py [WORKSPACE]

No key is needed: the answers come from a script. Put `AsyncAnthropic()` in the place of `client`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import httpx2
from anthropic import AsyncAnthropic
from pipimem import Channel, Message, Pipimem, Visible
from pipimem.adapters.anthropic_memory import ChannelMemoryTool


def scripted(request: httpx2.Request) -> httpx2.Response:
    """Looks into the memory file, writes a line into it, then says what it was sent of memory."""
    sent = json.loads(request.content)
    calls = (
        {"command": "view", "path": "/memories/MEMORY.md"},
        {
            "command": "insert",
            "path": "/memories/MEMORY.md",
            "insert_line": 0,
            "insert_text": "Lunch is ordered at half past eleven",
        },
    )
    done = sum(message["role"] == "assistant" for message in sent["messages"])
    if done < len(calls):
        part = {"type": "tool_use", "id": f"call-{done}", "name": "memory", "input": calls[done]}
    else:
        shown = f"{sent['system']}\n{sent['messages'][0]['content']}"
        lines = [line for line in shown.splitlines() if line.startswith("- Dana")]
        part = {"type": "text", "text": f"I remember: {lines[0]}" if lines else "Noted."}
    reply = {"id": "m", "type": "message", "role": "assistant", "model": "scripted"}
    reply |= {"content": [part], "usage": {"input_tokens": 1, "output_tokens": 1}}
    reply |= {"stop_reason": "tool_use" if done < len(calls) else "end_turn", "stop_sequence": None}
    return httpx2.Response(200, json=reply)


async def answer(client: AsyncAnthropic, channel: Channel, text: str, speaker: str) -> str:
    """One turn: the two calls of the host, with the SDK's own runner between them."""
    turn = await channel.before_turn(text, speaker=speaker, visible=Visible.NOTHING)
    about = await channel.session_prompt()
    runner = client.beta.messages.tool_runner(
        model="claude-sonnet-5-5",
        max_tokens=1_000,
        system=f"You are pipi, a helpful colleague.\n\n{about}\n{turn.standing}",
        messages=[{"role": "user", "content": f"{turn.recalled}\n\n{text}"}],
        tools=[ChannelMemoryTool(channel)],
        thread=False,
    )
    message = await runner.until_done()
    reply = "".join(part.text for part in message.content if part.type == "text")
    await channel.after_turn(turn, [Message.user(text, speaker=speaker), Message.assistant(reply)])
    return reply


async def main(workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "pipimem.toml").touch()
    transport = httpx2.AsyncClient(transport=httpx2.MockTransport(scripted))
    client = AsyncAnthropic(api_key="none", http_client=transport)
    async with client, Pipimem(workspace) as pipimem:
        channel = await pipimem.channel("cid-room/1", kind="group", title="lunch")
        for text in (
            "I'm allergic to peanuts, please remember that when you order.",
            "Is there anything about peanuts to watch out for?",
        ):
            print(f"Dana: {text}\npipi: {await answer(client, channel, text, 'Dana')}")
            await channel.reset()  # the session ends: what was said is learnt
            print("──────")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder)))
