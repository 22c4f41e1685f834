"""The DingTalk bot, against a DingTalk on this machine: no account, no key, no model.

Usage: python examples/dingtalk_bot.py [WORKSPACE]
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the DingTalk of the tests

from pipimem import Pipimem
from pipimem.bots.dingtalk.bot import DingTalkBot
from pipimem.bots.dingtalk.frames import Credentials
from tests.servers.dingtalk import CLIENT_ID, CLIENT_SECRET, fake_dingtalk

TALK = (
    ("林晓", "我们决定：周五不许发布"),
    ("老周", "我负责支付网关，有问题找我"),
    ("林晓", "/new"),
    ("Dana", "周五可以发布吗？"),
    ("Dana", "/memory"),
)


async def main(workspace: Path) -> None:
    """Three people of a group speak to the bot; what it says is printed."""
    stop = asyncio.Event()
    async with fake_dingtalk() as dingtalk, Pipimem(workspace, "offline") as pipimem:
        # A bot of your own has the last two from the environment: Credentials.from_environment.
        credentials = Credentials(CLIENT_ID, CLIENT_SECRET, dingtalk.url)
        bot = asyncio.create_task(DingTalkBot(pipimem, credentials).run(stop))
        await dingtalk.connected()
        for number, (speaker, text) in enumerate(TALK, 1):
            await dingtalk.say(text, senderNick=speaker, senderStaffId=speaker)
            await dingtalk.until(lambda number=number: len(dingtalk.said) == number)
            print(f"{speaker}: {text}\n→ {dingtalk.said[-1].text}\n")
        stop.set()
        await bot


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "workspace")
    asyncio.run(main(folder))
