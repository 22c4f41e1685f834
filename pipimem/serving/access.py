"""Who reaches a server: the address it listens on, Host headers, and its token."""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipimem.errors import SettingsError

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HTTP_PORT = 80
_BACKLOG = 100


def loopback_hosts(port: int) -> list[str]:
    """The Host headers of clients on this machine."""
    return host_headers(_LOOPBACK, port)


def host_headers(names: Sequence[str], port: int) -> list[str]:
    """The Host headers that clients send for some names and a port."""
    hosts = [f"{name}:{port}" for name in names]
    return [*hosts, *names] if port == _HTTP_PORT else hosts


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises `OSError` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off for sockets that say TCP alone; with it each answer would
    # wait 40 ms for the client's acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


# Of a generated one 256 bits are random. Shorter ones could be tried out.
_RANDOM_BYTES = 32
_SHORTEST = 16
_TOKEN = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its `repr` does not show it. `is_generated` where nobody knows it yet."""

    value: str = field(repr=False)
    is_generated: bool = False

    def matches(self, header: bytes) -> bool:
        """Whether an Authorization header shows this token; takes as long for each wrong one."""
        scheme, _, shown = header.partition(b" ")
        is_bearer = scheme.lower() == b"bearer"
        return self.is_same(shown.strip()) and is_bearer

    def is_same(self, shown: bytes) -> bool:
        """Whether these bytes are the token; takes as long for each wrong one."""
        return secrets.compare_digest(shown, self.value.encode())


def token_from(file: Path | None, environment: Mapping[str, str], variable: str) -> Token:
    """The token of a file, else of a variable of the environment, else a new one.

    Raises `SettingsError` for one that is too short or has blanks in it, and for a file that others
    can read.
    """
    if file is not None:
        return _checked(_read(file), str(file))
    if environment.get(variable, "").strip():
        return _checked(environment[variable], variable)
    return Token(secrets.token_urlsafe(_RANDOM_BYTES), is_generated=True)


def _read(file: Path) -> str:
    with file.open(encoding="utf-8", errors="replace") as opened:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingsError(
                f"{file} holds a token and others may read it (mode {mode:04o}): "
                f"`chmod 600 {file}`, and make another token if somebody may have read it."
            )
        return opened.read()


def _checked(text: str, where: str) -> Token:
    value = text.strip()
    if len(value) < _SHORTEST or _TOKEN.fullmatch(value) is None:
        raise SettingsError(
            f"The token of {where} must be {_SHORTEST} characters or more of ASCII without blanks; "
            "`openssl rand -hex 32` makes one."
        )
    return Token(value)
