"""A LangChain agent with memory: told something in one session, asked for it in the next.

    pip install 'pipimem[langchain]'
    python examples/agents/langchain_agent.py [WORKSPACE]

No key is needed: the model is one that repeats what memory gave it. Put your own in its place.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pipimem import Channel, Pipimem
from pipimem.adapters.langchain import LangChainMiddleware


class RepeatingModel(BaseChatModel):
    """Answers with the lines of memory that it was sent."""

    @property
    def _llm_type(self) -> str:
        return "repeating"

    def bind_tools(self, *_: object, **__: object) -> RepeatingModel:
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        sent = "\n".join(str(message.text) for message in messages)
        lines = [line for line in sent.splitlines() if line.startswith("- Dana")]
        answer = AIMessage(f"I remember: {lines[0]}" if lines else "Noted.")
        return ChatResult(generations=[ChatGeneration(message=answer)])


def agent_for(channel: Channel) -> Any:  # noqa: ANN401 - the graph that create_agent makes
    """An agent for one conversation. Each conversation has an agent of its own."""
    model = RepeatingModel()
    memory = LangChainMiddleware(channel)
    compaction = SummarizationMiddleware(model, trigger=("tokens", 20_000), keep=("messages", 20))
    return create_agent(
        model,
        system_prompt="You are pipi, a helpful colleague.",
        middleware=[memory.gated(compaction), memory],
        checkpointer=InMemorySaver(),
    )


async def main(workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "pipimem.toml").touch()
    async with Pipimem(workspace) as pipimem:  # model="openai/gpt-5-mini", or the offline rules
        channel = await pipimem.channel("cid-room/1", kind="group", title="lunch")
        agent = agent_for(channel)
        for session, text in enumerate(
            (
                "I'm allergic to peanuts, please remember that when you order.",
                "Is there anything about peanuts to watch out for?",
            )
        ):
            state = await agent.ainvoke(
                {"messages": [HumanMessage(text, name="Dana")]},
                {"configurable": {"thread_id": f"{channel.id}/{session}"}},
            )
            print(f"Dana: {text}\npipi: {state['messages'][-1].text}")
            await channel.reset()  # the session ends: what was said is learnt
            print("──────")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder)))
