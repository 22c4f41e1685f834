"""How an answer reaches a conversation: by a message's webhook, or on a streaming AI card."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipimem.bots.dingtalk.api import DingTalkApi, DingTalkRefusal
from pipimem.bots.dingtalk.incoming import Incoming

# DingTalk takes 20,000 bytes of Markdown; a Chinese character has three.
_MOST_CHARS = 5_000
_CARD_PREFIX = "pipimem-"
# `flowStatus` of the AI card.
_TYPING, _DONE, _FAILED = "2", "3", "5"
_KEY = "content"

_log = logging.getLogger("pipimem.dingtalk")


def new_card() -> str:
    """The id of a card that nobody can guess."""
    return f"{_CARD_PREFIX}{secrets.token_hex(16)}"


@dataclass(slots=True)
class StartedReply:
    """A reply on its way: its card is there, and empty, or there is none."""

    delivery: Delivery
    to: Incoming
    card: str = ""

    async def finish(self, text: str, *, is_error: bool = False) -> bool:
        """Send the text; whether it arrived."""
        if self.card and await self.delivery.finish_card(self.card, text, is_error=is_error):
            return True
        return await self.delivery.say(self.to, text)


@dataclass(slots=True)
class Delivery:
    """Sends what the bot says. `card_template` is the id of an AI card, empty for Markdown."""

    api: DingTalkApi
    title: str
    card_template: str = ""

    async def start(self, to: Incoming) -> StartedReply:
        """Show that an answer is coming, where that can be shown."""
        if not self.card_template or (to.kind == "dm" and not to.staff_id):
            return StartedReply(self, to)
        card, values = new_card(), {_KEY: "", "flowStatus": _TYPING}
        try:
            await self.send_card(card, to, self.card_template, values)
        except DingTalkRefusal as error:
            _log.warning("no AI card: %s The answer goes by the webhook.", error)
            card = ""
        return StartedReply(self, to, card)

    async def say(self, to: Incoming, text: str) -> bool:
        """Send a text by the message's webhook, in pieces if it is long; whether it arrived."""
        try:
            for piece in _pieces(text):
                at = to.staff_id if to.kind == "group" else ""
                await self.api.reply(to.webhook, self.title, piece, at)
        except DingTalkRefusal as error:
            _log.warning("an answer did not arrive: %s", error)
            return False
        return True

    async def send_card(
        self, name: str, to: Incoming, template: str, values: dict[str, str]
    ) -> None:
        """Make a card in a message's conversation. Raises `DingTalkRefusal`."""
        body: dict[str, Any] = {
            "cardTemplateId": template,
            "outTrackId": name,
            "cardData": {"cardParamMap": values},
            "callbackType": "STREAM",
            "userIdType": 1,
            "imGroupOpenSpaceModel": {"supportForward": False},
            "imRobotOpenSpaceModel": {"supportForward": False},
        }
        if to.kind == "group":
            body["openSpaceId"] = f"dtv1.card//IM_GROUP.{to.channel}"
            body["imGroupOpenDeliverModel"] = {"robotCode": self.api.robot_code}
        else:
            body["openSpaceId"] = f"dtv1.card//IM_ROBOT.{to.staff_id}"
            body["imRobotOpenDeliverModel"] = {"spaceType": "IM_ROBOT"}
        found = await self.api.call("POST", "/v1.0/card/instances/createAndDeliver", body)
        if not _is_delivered(found.get("result")):
            raise DingTalkRefusal("the card was made, and delivered to nobody.")

    async def finish_card(self, card: str, text: str, *, is_error: bool) -> bool:
        """Put the whole text on a streaming card and close it; whether that worked."""
        streamed = {
            "outTrackId": card,
            "guid": secrets.token_hex(16),
            "key": _KEY,
            "content": text,
            "isFull": True,
            "isFinalize": not is_error,
            "isError": is_error,
        }
        values = {_KEY: text, "flowStatus": _FAILED if is_error else _DONE}
        closed = {"outTrackId": card, "cardData": {"cardParamMap": values}}
        try:
            await self.api.call("PUT", "/v1.0/card/streaming", streamed)
        except DingTalkRefusal as error:
            _log.warning("the AI card took no text: %s", error)
            return False
        try:
            await self.api.call("PUT", "/v1.0/card/instances", closed)
        except DingTalkRefusal as error:  # the text can be read all the same
            _log.warning("the AI card goes on showing that it is typing: %s", error)
        return True


def _is_delivered(result: object) -> bool:
    """Whether a card that was made reached its place; each place has a result of its own."""
    places = result.get("deliverResults") if isinstance(result, dict) else None
    if not isinstance(places, list):
        return True
    return not any(isinstance(one, dict) and one.get("success") is False for one in places)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that DingTalk takes, cut at the end of a line where there is one."""
    while len(text) > _MOST_CHARS:
        end = text.rfind("\n", 1, _MOST_CHARS)
        end = end if end > _MOST_CHARS // 2 else _MOST_CHARS
        yield text[:end]
        text = text[end:].lstrip("\n")
    yield text
