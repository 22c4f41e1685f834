"""`pipimem dingtalk`: a DingTalk bot with this memory, until it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import click

from pipimem.cli.extras import needing_extra
from pipimem.cli.metrics import MetricsOptions, metrics_options
from pipimem.cli.options import Chosen, chosen
from pipimem.cli.output import note
from pipimem.cli.running import opened_runtime, run

if TYPE_CHECKING:
    from pipimem.bots.dingtalk.bot import DingTalkBot
    from pipimem.runtime.pipimem import Pipimem

_SWITCH_SECONDS = 0.0005
_STOP = (signal.SIGTERM, signal.SIGINT)


@click.command("dingtalk")
@click.option(
    "--language",
    type=click.Choice(["zh", "en"]),
    default="zh",
    show_default=True,
    help="What the bot's own sentences are in.",
)
@click.option(
    "--card",
    metavar="TEMPLATE",
    default="",
    envvar="DINGTALK_CARD_TEMPLATE",
    help="Answer on a streaming AI card of this template, not in Markdown.",
)
@click.option(
    "--review-card",
    metavar="TEMPLATE",
    default="",
    envvar="DINGTALK_REVIEW_CARD_TEMPLATE",
    help="The template of the card that /review sends.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0, 600),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="How long turns may take to end after SIGTERM.",
)
@metrics_options
@chosen
def command(
    chosen: Chosen,
    language: Literal["zh", "en"],
    card: str,
    review_card: str,
    grace: float,
    metrics: MetricsOptions,
) -> None:
    """Be a DingTalk bot, until stopped.

    The app's DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET come from the environment. Ctrl-C or
    SIGTERM ends it: turns that are under way end first. Without a model it answers with what memory
    found. docs/guide/dingtalk.md leads from creating the app to the first answer.
    """
    with needing_extra("dingtalk", ("aiohttp",), "the DingTalk bot needs its library"):
        from pipimem.bots.dingtalk import bot, frames
    options = bot.BotOptions(language, card, review_card, grace)
    credentials = frames.Credentials.from_environment(os.environ)

    def bot_on(pipimem: Pipimem) -> DingTalkBot:
        return bot.DingTalkBot(pipimem, credentials, options, report=note)

    with suppress(_Stopped):
        run(lambda: _answering(chosen, bot_on, metrics))
    note("stopped; the files are whole")


class _Stopped(Exception):
    """The bot was asked to stop: no model is asked any more, what was said is on disk."""


async def _answering(
    chosen: Chosen, bot_on: Callable[[Pipimem], DingTalkBot], metrics: MetricsOptions
) -> None:
    """Answer until a signal comes. Raises `_Stopped`, so that closing waits for no model."""
    # Acknowledgements wait for the thread of a turn no longer than this; the default is 5 ms.
    sys.setswitchinterval(_SWITCH_SECONDS)
    stop = asyncio.Event()
    for name in _STOP:
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with opened_runtime(chosen, settings=chosen.settings(idle=True)) as pipimem:
        bot = bot_on(pipimem)
        note(f"DingTalk bot on {chosen.workspace} with {pipimem.assistant.name}; Ctrl-C ends it")
        async with metrics.served(pipimem, bot.problem):
            await bot.run(stop)
        raise _Stopped
