"""What DingTalk's frames say: a message, a message taken back, a click on a card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from pipimem.bots.dingtalk.frames import Frame, json_object
from pipimem.notes.message import Message

_NAMES = ("/help", "/memory", "/review", "/forget", "/confirm", "/private", "/new", "/usage")
_COMMAND = re.compile(r"[/／]([a-z]+)(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


def command_in(text: str) -> str:
    """The command that a text calls, empty for none; another word behind a slash is talk."""
    found = _COMMAND.fullmatch(text.strip())
    name = f"/{found[1].casefold()}" if found else ""
    return name if name in _NAMES else ""


def argument_in(text: str) -> str:
    """What stands behind a command."""
    found = _COMMAND.fullmatch(text.strip())
    return (found[2] or "").strip() if found else ""


# DingTalk's own limit is 20,000 bytes; what is longer did not come from its app.
_MOST_CHARS = 50_000
_LONGEST_NAME = 64
# A message whose time is older has a wrong clock, or waited longer than any talk goes on.
_OLDEST = timedelta(days=30)
_LONGEST_ID = 512
_SENDER_IDS = ("senderStaffId", "senderUnionId", "senderId")
_SPACE = re.compile(r"\s+")
_KIND = re.compile(r"\w{1,40}")
# "user_im_message_recall_group" and its like.
_RECALLED = re.compile(r"_recall(?:_|$)")


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message of a person; `addressed` where the bot is to answer.

    `sender` is the platform's id of who wrote it, for telling people apart, `ids` are all that it
    gives; `speaker` is the name that others see.
    """

    id: str
    channel: str
    kind: Literal["dm", "group"]
    title: str
    speaker: str
    text: str = field(repr=False)
    addressed: bool = True
    sender: str = field(default="", repr=False)
    staff_id: str = field(default="", repr=False)
    ids: tuple[str, ...] = field(default=(), repr=False)
    webhook: str = field(default="", repr=False)
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class TakenBackMessage:
    """A message that its sender took back."""

    channel: str
    id: str


@dataclass(frozen=True, slots=True)
class CardClick:
    """A button of a card that somebody pressed, with what the card holds for it.

    `sender` is the platform's id of who pressed it, empty where it names nobody.
    """

    card: str
    action: str
    values: Mapping[str, str] = field(repr=False)
    sender: str = field(default="", repr=False)


def incoming_of(data: Mapping[str, Any], notes: Mapping[str, str]) -> Incoming | None:
    """The message in a callback's data; `None` where it names no message or conversation.

    `notes` says what stands for a kind of message that has no text, "other" for unknown ones.
    """
    name, channel = _id(data.get("msgId")), _id(data.get("conversationId"))
    if not name or not channel:
        return None
    kind: Literal["dm", "group"] = "group" if str(data.get("conversationType")) == "2" else "dm"
    speaker = _name(data.get("senderNick"))
    return Incoming(
        id=name,
        channel=channel,
        kind=kind,
        title=_name(data.get("conversationTitle")) or speaker,
        speaker=speaker,
        text=_text(data, notes)[:_MOST_CHARS],
        # Without the field it was delivered because the bot is meant.
        addressed=kind == "dm" or data.get("isInAtList") not in (False, "false"),
        sender=_id(data.get("senderStaffId")) or _id(data.get("senderId")),
        staff_id=_id(data.get("senderStaffId")),
        ids=tuple(filter(None, (_id(data.get(name)) for name in _SENDER_IDS))),
        webhook=_string(data.get("sessionWebhook")),
        time=_time(data.get("createAt")),
    )


def message_of(incoming: Incoming, now: datetime) -> Message:
    """The message as the transcript keeps it; without a time where its own cannot be right."""
    time = incoming.time
    if time is not None and not now - _OLDEST <= time <= now:
        time = None
    local = time.astimezone(now.tzinfo) if time else None
    return Message.user(incoming.text, id=incoming.id, time=local, speaker=incoming.speaker)


def taken_back_of(frame: Frame) -> TakenBackMessage | None:
    """The message that an event says was taken back; `None` for another event."""
    if not _RECALLED.search(frame.event or _string(frame.data.get("eventKey"))):
        return None
    for place in _bodies(frame.data):
        name = _id(place.get("openMessageId")) or _id(place.get("msgId"))
        channel = _id(place.get("openConversationId")) or _id(place.get("conversationId"))
        if name and channel:
            return TakenBackMessage(channel, name)
    return None


def card_click_of(data: Mapping[str, Any]) -> CardClick | None:
    """The click in a card callback's data; `None` where it names no card or button."""
    card, content = _id(data.get("outTrackId")), data.get("content")
    held = json_object(content) if isinstance(content, str) else content
    match held:
        case {"cardPrivateData": {"actionIds": [str(action), *_], **rest}} if card:
            return CardClick(card, action, _texts(rest.get("params")), _id(data.get("userId")))
    return None


def _texts(values: object) -> dict[str, str]:
    """Those of a card's values that are texts."""
    known = values if isinstance(values, dict) else {}
    return {str(name): value for name, value in known.items() if isinstance(value, str)}


def _bodies(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The objects in which an event may name its message."""
    payload = data.get("payload")
    for place in (payload, data):
        if isinstance(place, dict):
            body = place.get("body")
            if isinstance(body, dict):
                yield body
            yield place


def _text(data: Mapping[str, Any], notes: Mapping[str, str]) -> str:
    """The words of a message, with a note for each part that has none."""
    kind, content = _string(data.get("msgtype")), data.get("content")
    held = content if isinstance(content, dict) else {}
    if kind == "text":
        text = data.get("text")
        return _string(text.get("content") if isinstance(text, dict) else text).strip()
    if kind == "richText":
        parts = held.get("richText")
        return _rich(parts if isinstance(parts, list) else [], notes)
    said = _string(held.get("recognition")).strip()
    if said:
        return said
    note = _note(kind, notes)
    named = _name(held.get("fileName"))
    return f"{note} {named}".strip()


def _rich(parts: list[Any], notes: Mapping[str, str]) -> str:
    texts = []
    for part in parts:
        if isinstance(part, dict):
            text = _string(part.get("text"))
            is_other = not text and ("downloadCode" in part or "type" in part)
            texts.append(_note(_string(part.get("type")) or "picture", notes) if is_other else text)
    return "".join(texts).strip()


def _note(kind: str, notes: Mapping[str, str]) -> str:
    shown = kind if _KIND.fullmatch(kind) else "?"
    return notes.get(kind) or notes["other"].format(kind=shown)


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id(value: object) -> str:
    text = _string(value).strip()
    return text if len(text) <= _LONGEST_ID else ""


def _name(value: object) -> str:
    return _SPACE.sub(" ", _string(value)).strip()[:_LONGEST_NAME]


def _time(value: object) -> datetime | None:
    """The time of milliseconds since 1970, `None` for what is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    try:
        return datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None
