"""Ways of hosts to the database, each of which can be cut: a link to its socket, or a network of
its own.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.fleet.postgres import Server

# Two addresses for each host: 10.77.PLACE.1 is the database's side, .2 the host's.
_NETWORK = "10.77"


class Ways(Protocol):
    """How the hosts of a storm reach the database, by their place."""

    def host(self, place: int) -> str:
        """What is PGHOST for a host; its way is open from then on."""

    def command(self, place: int) -> list[str]:
        """What stands in front of a host's command."""

    def cut(self, place: int) -> None:
        """The host reaches the database no more."""

    def mend(self, place: int) -> None:
        """It does again."""


@dataclass(frozen=True, slots=True)
class Sockets:
    """A folder each with a link to the server's socket; a cut ends its connections."""

    server: Server
    folder: Path

    def host(self, place: int) -> str:
        """The folder."""
        self._door(place).mkdir(exist_ok=True)
        self.mend(place)
        return str(self._door(place))

    def command(self, place: int) -> list[str]:
        """Nothing, but a name for its connections."""
        return ["env", f"PGAPPNAME={self._door(place).name}"]

    def cut(self, place: int) -> None:
        """Removes the link, and ends what goes through it."""
        (self._door(place) / self._socket).unlink()
        self.server.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            f" where application_name = '{self._door(place).name}'"
        )

    def mend(self, place: int) -> None:
        """Makes the link."""
        link = self._door(place) / self._socket
        if not link.is_symlink():
            link.symlink_to(self.server.folder / self._socket)

    @property
    def _socket(self) -> str:
        return f".s.PGSQL.{self.server.port}"

    def _door(self, place: int) -> Path:
        return self.folder / f"door-{place}"


@dataclass(frozen=True, slots=True)
class Namespaces:
    """A network namespace each; a cut takes its link down, so that nobody hears of it.

    Needs root. Before the server starts, `options` go into PIPIMEM_TEST_POSTGRES.
    """

    server: Server
    hosts: int

    options = "-c listen_addresses=*"

    def __enter__(self) -> Namespaces:
        """Make the networks, and let the server in to all of them."""
        access = Path(f"{self.server.folder}/data/pg_hba.conf")
        with access.open("a") as file:
            file.write(f"host all all {_NETWORK}.0.0/16 trust\n")
        self.server.sql("select pg_reload_conf()")
        for place in range(self.hosts):
            name = _name(place)
            _ip("netns", "add", name)
            _ip("link", "add", name, "type", "veth", "peer", "name", "inside", "netns", name)
            _ip("address", "add", f"{_NETWORK}.{place}.1/24", "dev", name)
            _ip("-n", name, "address", "add", f"{_NETWORK}.{place}.2/24", "dev", "inside")
            for words in (("link", "set", name, "up"), ("-n", name, "link", "set", "inside", "up")):
                _ip(*words)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove them."""
        for place in range(self.hosts):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "delete", _name(place))

    def host(self, place: int) -> str:
        """The database's address on the host's network."""
        self.mend(place)
        return f"{_NETWORK}.{place}.1"

    def command(self, place: int) -> list[str]:
        """Runs a command in the namespace."""
        return ["ip", "netns", "exec", _name(place)]

    def cut(self, place: int) -> None:
        """Takes the link down."""
        _ip("link", "set", _name(place), "down")

    def mend(self, place: int) -> None:
        """Takes it up."""
        _ip("link", "set", _name(place), "up")


def _name(place: int) -> str:
    return f"pipimem-{place}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
