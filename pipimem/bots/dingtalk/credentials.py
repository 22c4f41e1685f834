"""The app's id and secret, and DingTalk's address, from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
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
