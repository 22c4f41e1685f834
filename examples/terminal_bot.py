"""A bot in the terminal that keeps a history of its own, with memory around it and the gate.

    python examples/terminal_bot.py [WORKSPACE] [MODEL]

MODEL is a name that litellm knows, such as openai/gpt-5-mini. Without one the bot answers with what
memory gave it. `/new` begins a new session, Ctrl-D or an empty line ends the bot.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

from pipimem import Channel, Message, Pipimem, Visible
from pipimem.assistant import Assistant

# So many messages are sent to the model; when there are more, half of them go.
MOST = 40


class TerminalBot:
    """One conversation: `history` is what the model still sees of it."""

    def __init__(self, pipimem: Pipimem, channel: Channel, speaker: str) -> None:
        self.pipimem, self.channel, self.speaker = pipimem, channel, speaker
        self.history: list[Message] = []

    async def answer(self, text: str) -> str:
        """One turn, from what the user said to what the bot replied."""
        seen = self.history[0].id if self.history else Visible.NOTHING
        turn = await self.channel.before_turn(text, speaker=self.speaker, visible=seen)
        reply = await self.reply(text, turn.standing, turn.recalled)
        said = [
            Message.user(text, id=uuid4().hex, speaker=self.speaker),
            Message.assistant(reply, id=uuid4().hex),
        ]
        await self.channel.after_turn(turn, said)
        self.history += said
        if len(self.history) > MOST:
            await self.shorten()
        return reply

    async def reply(self, text: str, standing: str, recalled: str) -> str:
        """Your own model goes here; this one is asked through pipimem, and counts in its budget."""
        if not self.pipimem.assistant.paid:
            return "\n".join(filter(None, (standing, recalled))) or "Noted."
        system = f"{await self.channel.session_prompt()}\n{standing}"
        asked = Message.user(f"{recalled}\n\n{text}" if recalled else text)
        messages = [Message("system", system), *self.history, asked]
        return await self.pipimem.reply(messages, channel=self.channel.id, timeout=120)

    async def shorten(self) -> None:
        """Drop the older half of the history, if memory has learnt from it."""
        receipt = await self.channel.before_compaction(self.history, deadline=60)
        if receipt.may_compact:
            del self.history[: MOST // 2]
            await self.channel.compacted(receipt)

    async def begin_anew(self) -> str:
        """End the session: all of it is learnt, and the history is empty."""
        receipt = await self.channel.reset(deadline=60)
        if not receipt.may_compact:
            return f"The session goes on: {receipt.reason}"
        self.history.clear()
        return "A new session."


def typed() -> Iterator[str]:
    """The lines of a person, up to an empty one or the end of the input."""
    while True:
        try:
            line = input("you: ").strip()
        except EOFError:
            return
        if not line:
            return
        yield line


async def main(
    workspace: Path, lines: Iterable[str], model: str = "", assistant: Assistant | None = None
) -> None:
    async with Pipimem(workspace, model, assistant=assistant) as pipimem:
        bot = TerminalBot(pipimem, await pipimem.channel("terminal", kind="dm"), speaker="you")
        for line in lines:
            print("bot:", await (bot.begin_anew() if line == "/new" else bot.answer(line)))


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "workspace")
    folder.mkdir(exist_ok=True)
    (folder / "pipimem.toml").touch()
    asyncio.run(main(folder, typed(), *sys.argv[2:3]))
