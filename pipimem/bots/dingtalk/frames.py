"""Frames of a Stream connection, their acknowledgements, and the credentials of a bot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Self
from urllib.parse import urlsplit

from pipimem.errors import SettingsError

_ID, _SECRET = "DINGTALK_CLIENT_ID", "DINGTALK_CLIENT_SECRET"
# The name that DingTalk's own client has for it.
_ENDPOINT = "DINGTALK_OPENAPI_ENDPOINT"
_PUBLIC = "https://api.dingtalk.com"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who the bot is, and whom it tells; neither id nor secret stands in its `repr`."""

    client_id: str = field(repr=False)
    client_secret: str = field(repr=False)
    endpoint: str = _PUBLIC

    @classmethod
    def from_environment(cls, variables: Mapping[str, str]) -> Self:
        """Raises `SettingsError` where one is missing, or the address would send them in clear."""
        missing = [name for name in (_ID, _SECRET) if not variables.get(name, "").strip()]
        if missing:
            raise SettingsError(
                f"{' and '.join(missing)} must be set in the environment: the Client ID and Client "
                "Secret of the app in DingTalk's developer console."
            )
        endpoint = (variables.get(_ENDPOINT) or _PUBLIC).rstrip("/")
        address = urlsplit(endpoint)
        is_safe = address.scheme == "https" or address.hostname in LOOPBACK
        if address.scheme not in ("http", "https") or not address.hostname or not is_safe:
            raise SettingsError(f"{_ENDPOINT} must be an https:// address, not {endpoint!r}.")
        return cls(variables[_ID].strip(), variables[_SECRET].strip(), endpoint)


SYSTEM, EVENT, CALLBACK = "SYSTEM", "EVENT", "CALLBACK"
DISCONNECT = "disconnect"
MESSAGES = "/v1.0/im/bot/messages/get"
CARDS = "/v1.0/card/instances/callback"
SUBSCRIPTIONS = (
    {"type": EVENT, "topic": "*"},
    {"type": CALLBACK, "topic": MESSAGES},
    {"type": CALLBACK, "topic": CARDS},
)


class AckCode(IntEnum):
    """What an acknowledgement says; everything but `OK` may be delivered again."""

    OK = 200
    BAD_REQUEST = 400
    NOT_FOUND = 404
    FAILED = 500


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; `data` is the object that its text holds, empty where it holds none."""

    type: str
    topic: str
    id: str
    event: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Ack:
    """The answer to a frame; `data` goes back as JSON text."""

    code: AckCode = AckCode.OK
    message: str = "OK"
    data: Mapping[str, Any] | str = field(default_factory=dict, repr=False)

    def text(self, frame: Frame) -> str:
        """The acknowledgement of a frame as it goes over the wire."""
        data = self.data if isinstance(self.data, str) else json.dumps(self.data)
        headers = {"messageId": frame.id, "contentType": "application/json"}
        about = {"code": int(self.code), "message": self.message, "headers": headers}
        return json.dumps({**about, "data": data})


def frame_of(text: str) -> Frame | None:
    """The frame in a text, `None` where it is none."""
    value = json_object(text)
    headers = value.get("headers")
    if not isinstance(headers, dict) or not isinstance(value.get("type"), str):
        return None
    data = value.get("data")
    held = data if isinstance(data, str) else ""
    return Frame(
        type=value["type"],
        topic=_text(headers.get("topic")),
        id=_text(headers.get("messageId")),
        event=_text(headers.get("eventType")),
        data=data if isinstance(data, dict) else json_object(held),
        text=held,
    )


def json_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object in a text; an empty one for anything else, however deep or odd."""
    try:
        value = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
