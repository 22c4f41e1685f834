"""An AgentScope agent with memory: told something in one session, asked for it in the next.

    pip install 'pipimem[agentscope]'
    python examples/agents/agentscope_agent.py [WORKSPACE]

No key is needed: the model is one that repeats what memory gave it. Put your own in its place.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from agentscope.agent import Agent
from agentscope.credential import CredentialBase
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock, UserMsg
from agentscope.model import ChatModelBase, ChatResponse
from agentscope.tool import Toolkit
from pipimem import Channel, Pipimem
from pipimem.adapters.agentscope import AgentScopeMiddleware


class RepeatingModel(ChatModelBase):
    """Answers with the lines of memory that it was sent."""

    def __init__(self) -> None:
        super().__init__(CredentialBase(type="none"), "repeating", self.Parameters(), stream=False)
        self.formatter = OpenAIChatFormatter()  # newer versions ask it which media a model takes

    async def _call_api(self, _name: str, messages: list[Msg], **_: object) -> ChatResponse:
        sent = "\n".join(message.get_text_content() or "" for message in messages)
        lines = [line for line in sent.splitlines() if line.startswith("- Dana")]
        text = f"I remember: {lines[0]}" if lines else "Noted."
        return ChatResponse(content=[TextBlock(text=text)], is_last=True)


async def agent_for(channel: Channel) -> Agent:
    """An agent for one conversation. Each conversation has an agent of its own."""
    memory = AgentScopeMiddleware(channel)
    return Agent(
        name="pipi",
        system_prompt="You are pipi, a helpful colleague.",
        model=RepeatingModel(),
        middlewares=[memory],
        toolkit=Toolkit(tools=await memory.list_tools()),
    )


async def main(workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "pipimem.toml").touch()
    async with Pipimem(workspace) as pipimem:  # model="openai/gpt-5-mini", or the offline rules
        channel = await pipimem.channel("cid-room/1", kind="group", title="lunch")
        for session in (
            ["I'm allergic to peanuts, please remember that when you order."],
            ["Is there anything about peanuts to watch out for?"],
        ):
            agent = await agent_for(channel)
            for text in session:
                reply = await agent.reply(UserMsg("Dana", text))
                print(f"Dana: {text}\npipi: {reply.get_text_content()}")
            await channel.reset()  # the session ends: what was said is learnt
            print("──────")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder)))
