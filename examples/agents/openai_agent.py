"""An agent of the OpenAI Agents SDK with memory: told something, asked for it in the next session.

    pip install 'pipimem[openai-agents]'
    python examples/agents/openai_agent.py [WORKSPACE]

No key is needed: the model is one that repeats what memory gave it. Put your own in its place.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from agents import Agent, Model, ModelResponse, RunConfig, Runner, TResponseInputItem, Usage
from agents.items import TResponseStreamEvent
from openai.types.responses import ResponseOutputMessage, ResponseOutputText
from pipimem import Pipimem
from pipimem.adapters.openai_agents import ChannelSession


class RepeatingModel(Model):
    """Answers with the line of memory that it was sent."""

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the SDK's name
        *_: object,
        **__: object,
    ) -> ModelResponse:
        asked = input if isinstance(input, str) else str(input[-1].get("content"))
        sent = f"{system_instructions}\n{asked}"
        lines = [line for line in sent.splitlines() if line.startswith("- Dana")]
        text = f"I remember: {lines[0]}" if lines else "Noted."
        part = ResponseOutputText(text=text, type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id="m", content=[part], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: object, **__: object) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError("this example does not stream")


async def main(workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "pipimem.toml").touch()
    async with Pipimem(workspace) as pipimem:  # model="openai/gpt-5-mini", or the offline rules
        channel = await pipimem.channel("cid-room/1", kind="group", title="lunch")
        session = ChannelSession(channel)  # each conversation has a session of its own
        agent = Agent(
            name="pipi",
            instructions="You are pipi, a helpful colleague.",
            model=RepeatingModel(),
            tools=session.tools(),
        )
        config = RunConfig(call_model_input_filter=session.add_memory, tracing_disabled=True)
        for text in (
            "I'm allergic to peanuts, please remember that when you order.",
            "Is there anything about peanuts to watch out for?",
        ):
            session.speaker = "Dana"
            result = await Runner.run(agent, text, session=session, run_config=config)
            print(f"Dana: {text}\npipi: {result.final_output}")
            await session.clear_session()  # the session ends: what was said is learnt
            print("──────")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(main(Path(folder)))
