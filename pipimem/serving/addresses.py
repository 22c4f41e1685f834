"""Where a server listens, and the Host headers under which clients reach it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

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
