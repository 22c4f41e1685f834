"""A Pydantic AI agent with memory: told something in one session, asked for it in the next.

    pip install 'pipimem[pydantic-ai]'
    python examples/agents/pydantic_agent.py [WORKSPACE]

No key is needed: the model is one that repeats what memory gave it. Put your own in its place.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from pipimem import Pipimem
from pipimem.adapters.pydantic_ai import ChannelCapability
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def repeating(_messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answers with the line of memory that it was sent."""
    sent = (info.instructions or "").splitlines()
    lines = [line for line in sent if line.startswith("- Dana")]
    return ModelResponse([TextPart(f"I remember: {lines[0]}" if lines else "Noted.")])


async def main(workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "pipimem.toml").touch()
    # One agent serves every conversation; its memory is handed in for each run.
    agent = Agent(FunctionModel(repeating), instructions="You are pipi, a helpful colleague.")
    async with Pipimem(workspace) as pipimem:  # model="openai/gpt-5-mini", or the offline rules
        channel = await pipimem.channel("cid-room/1", kind="group", title="lunch")
        for text in (
            "I'm allergic to peanuts, please remember that when you order.",
            "Is there anything about peanuts to watch out for?",
        ):
            memory = ChannelCapability(channel, speaker="Dana")
            # Within a session: message_history=result.all_messages() of the run before.
            result = await agent.run(text, capabilities=[memory])
            print(f"Dana: {text}\npipi: {result.output}")
            await channel.reset()  # the session ends: what was said is learnt
            print("──────")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder)))
