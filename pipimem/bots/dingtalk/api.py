"""DingTalk's HTTP interface: opening a connection, the access token, replies, cards.

No error of this module holds a secret, a ticket, a token or an address with one in its query.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from pipimem.bots.dingtalk.frames import LOOPBACK, Credentials, json_object

_SECONDS = aiohttp.ClientTimeout(total=10.0)
# A token is replaced this long before it ends.
_TOKEN_SPARE = 300.0
_HOSTS = (".dingtalk.com", ".dingtalk.io")
_ACCESS = "x-acs-dingtalk-access-token"
_CODE = re.compile(r"[A-Za-z0-9._-]{1,60}")
_REFUSED = frozenset({400, 401, 403})
# What DingTalk answers to a token that ended or was revoked, with HTTP 400 as well as 401.
_REFUSED_ACCESS = "InvalidAuthentication"
# Its tokens last two hours; a number beyond a day is a mistake.
_LONGEST_TOKEN = 86_400.0
_MOST_BYTES = 1 << 20


class DingTalkRefusal(Exception):
    """DingTalk did not do what it was asked.

    `is_final` where asking again is of no use, `wants_token` where another token may be.
    """

    def __init__(self, reason: str, *, is_final: bool = False, wants_token: bool = False) -> None:
        super().__init__(reason)
        self.is_final, self.wants_token = is_final, wants_token


@dataclass(frozen=True, slots=True)
class StreamAddress:
    """Where a Stream connection goes, with the ticket that opens it once."""

    endpoint: str
    ticket: str = field(repr=False)


@dataclass(slots=True)
class DingTalkApi:
    """Calls DingTalk as one app; `monotonic` gives seconds."""

    session: aiohttp.ClientSession
    credentials: Credentials
    monotonic: Callable[[], float]
    _token: str = field(default="", repr=False)
    _token_ends: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def robot_code(self) -> str:
        """The robot's code, which is the app's id."""
        return self.credentials.client_id

    async def open_connection(self, subscriptions: Sequence[Mapping[str, str]]) -> StreamAddress:
        """Where to connect to. Raises `DingTalkRefusal`, final for wrong credentials."""
        body = {
            "clientId": self.credentials.client_id,
            "clientSecret": self.credentials.client_secret,
            "subscriptions": list(subscriptions),
            "ua": "pipimem",
        }
        found = await self._json("POST", "/v1.0/gateway/connections/open", body, {})
        match found:
            case {"endpoint": str(endpoint), "ticket": str(ticket)} if _is_socket(endpoint):
                return StreamAddress(endpoint, ticket)
        raise DingTalkRefusal("DingTalk's answer names no address to connect to.")

    async def reply(self, webhook: str, title: str, text: str, at: str = "") -> None:
        """Answer in the conversation that a message's webhook belongs to.

        Raises `DingTalkRefusal`, also for an address that is not DingTalk's.
        """
        if not self._is_dingtalks(webhook):
            raise DingTalkRefusal("The webhook is no address of DingTalk's.", is_final=True)
        body: dict[str, Any] = {"msgtype": "markdown", "markdown": {"title": title, "text": text}}
        if at:
            body["at"] = {"atUserIds": [at]}
        found = await self._fetched("POST", webhook, body, {}, "the session webhook")
        code = found.get("errcode", 0)
        if code not in (0, "0"):
            raise DingTalkRefusal(f"The session webhook answered errcode {_code(code)}.")

    async def call(self, method: str, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a path of the interface answers; a refused token is replaced once.

        Raises `DingTalkRefusal`, also where the answer itself says that it was not done.
        """
        authorised = await self._authorised()
        try:
            found = await self._json(method, path, body, authorised)
        except DingTalkRefusal as error:
            if not error.wants_token:
                raise
            if authorised[_ACCESS] == self._token:  # nobody has replaced it meanwhile
                self._token = ""
            found = await self._json(method, path, body, await self._authorised())
        if found.get("success") is False:
            raise DingTalkRefusal(f"{method} {path}: {_code(found.get('code'))} no success.")
        return found

    async def _authorised(self) -> dict[str, str]:
        async with self._asking:
            if not self._token or self.monotonic() >= self._token_ends:
                body = {
                    "appKey": self.credentials.client_id,
                    "appSecret": self.credentials.client_secret,
                }
                found = await self._json("POST", "/v1.0/oauth2/accessToken", body, {})
                token, seconds = found.get("accessToken"), found.get("expireIn")
                if not isinstance(token, str) or not token:
                    raise DingTalkRefusal("DingTalk's answer has no access token.")
                lasts = min(seconds, _LONGEST_TOKEN) if isinstance(seconds, int | float) else 0.0
                self._token, self._token_ends = token, self.monotonic() + lasts - _TOKEN_SPARE
            return {_ACCESS: self._token}

    async def _json(
        self, method: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Mapping[str, Any]:
        return await self._fetched(
            method, f"{self.credentials.endpoint}{path}", body, headers, f"{method} {path}"
        )

    async def _fetched(
        self,
        method: str,
        address: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        what: str,
    ) -> Mapping[str, Any]:
        """The object that an address answers; `what` is its name in an error."""
        try:
            async with self.session.request(
                method,
                address,
                json=body,
                headers=headers,
                timeout=_SECONDS,
                allow_redirects=False,
            ) as response:
                content = await _read(response)
        except TimeoutError:
            raise DingTalkRefusal(f"{what}: no answer within {_SECONDS.total:g} s.") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Its text may hold the address, and that a ticket or a token.
            raise DingTalkRefusal(f"{what}: {type(error).__name__}.") from None
        value = json_object(content)
        if response.status != 200:
            code = _code(value.get("code"))
            reason = f"{what}: HTTP {response.status} {code}".rstrip()
            raise DingTalkRefusal(
                f"{reason}.",
                is_final=response.status in _REFUSED,
                wants_token=response.status == 401 or code == _REFUSED_ACCESS,
            )
        if not value:
            # A proxy's page: what was sent has not arrived.
            raise DingTalkRefusal(f"{what}: HTTP 200, and the answer is not DingTalk's.")
        return value

    def _is_dingtalks(self, address: str) -> bool:
        """Whether an address that came with a message may be told what the bot says."""
        try:
            there, ours = urlsplit(address), urlsplit(self.credentials.endpoint)
        except ValueError:  # "https://[": no address at all
            return False
        if there.hostname == ours.hostname and there.hostname in LOOPBACK:
            return there.scheme in ("http", "https")
        return there.scheme == "https" and (there.hostname or "").endswith(_HOSTS)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, up to a size that no answer of DingTalk's has."""
    found = bytearray()
    async for piece in response.content.iter_chunked(1 << 16):
        found += piece
        if len(found) > _MOST_BYTES:
            raise ValueError("too long")
    return bytes(found)


def _code(value: object) -> str:
    """DingTalk's code of an error, if it looks like one."""
    text = str(value) if isinstance(value, str | int) else ""
    return text if _CODE.fullmatch(text) else ""


def _is_socket(endpoint: str) -> bool:
    """Whether an address is a WebSocket's, encrypted unless it is on this machine."""
    address = urlsplit(endpoint)
    is_local = address.scheme == "ws" and address.hostname in LOOPBACK
    return bool(address.hostname) and (address.scheme == "wss" or is_local)
