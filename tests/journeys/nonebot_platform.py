"""A platform for NoneBot that delivers messages as they are handed in."""

from __future__ import annotations

from typing import Any

from nonebot import adapters
from nonebot.message import handle_event

__all__ = ["Adapter", "Bot", "Event", "handle_event"]


class Segment(adapters.MessageSegment):  # type: ignore[type-arg]
    @classmethod
    def get_message_class(cls) -> Any:
        return Text

    def __str__(self) -> str:
        return str(self.data["text"])

    def is_text(self) -> bool:
        return True


class Text(adapters.Message):  # type: ignore[type-arg]
    @classmethod
    def get_segment_class(cls) -> Any:
        return Segment

    @staticmethod
    def _construct(msg: str) -> Any:
        yield Segment("text", {"text": msg})


class Event(adapters.Event):
    text: str
    user: str
    message_id: int
    group_id: int | None = None
    me: bool = True

    def get_type(self) -> str:
        return "message"

    def get_message(self) -> Any:
        return Text(self.text)

    def get_user_id(self) -> str:
        return self.user

    def is_tome(self) -> bool:
        return self.me

    get_event_name = get_event_description = get_session_id = get_type


class Bot(adapters.Bot):
    """Keeps what it was told to send."""

    def __init__(self, adapter: Any, self_id: str) -> None:
        super().__init__(adapter, self_id)
        self.replies: list[str] = []

    async def send(self, event: Any, message: Any, **_: Any) -> None:
        self.replies.append(str(message))


class Adapter(adapters.Adapter):
    @classmethod
    def get_name(cls) -> str:
        return "fake"

    async def _call_api(self, *_: Any, **__: Any) -> None:
        raise AssertionError
