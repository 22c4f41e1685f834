"""A PostgreSQL of the tests' own, on a socket in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pipimem.store.fleet.database import Database

collect_ignore_glob = [] if os.environ.get("PIPIMEM_TEST_FLEET") else ["*"]
_DATA = Path(__file__).resolve().parents[2] / "pipimem" / "data" / "fleet"


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    name = shutil.which("initdb")
    return Path(name).resolve().parent if name else None


def _as_nobody(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--clear-groups"]


@pytest.fixture(scope="session")
def server() -> Iterator[Path]:
    """The folder of a running server's socket."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("NO POSTGRESQL: the fleet was not tested. apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="pipimem-pg-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir(mode=0o700)
        shutil.chown(data, "nobody") if os.geteuid() == 0 else None
        sudo = _as_nobody(folder)
        run = lambda *words: subprocess.run(
            [*sudo, *map(str, words)], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )  # noqa: E731
        run(
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "fleet",
            "-A",
            "trust",
            "-N",
            "--locale=C.UTF-8",
            "-E",
            "UTF8",
        )
        options = f"-k {folder} -h '' -c fsync=off -c max_connections=200"
        run(binaries / "pg_ctl", "-D", data, "-o", options, "-l", folder / "log", "-w", "start")
        try:
            yield folder
        finally:
            run(binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


@pytest.fixture
def conninfo(server: Path) -> Iterator[str]:
    """A fresh database with our tables and Procrastinate's."""
    import psycopg
    from procrastinate.schema import SchemaManager

    admin = f"host={server} user=fleet dbname=postgres"
    name = f"t{os.urandom(6).hex()}"
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    found = f"host={server} user=fleet dbname={name}"
    with psycopg.connect(found, autocommit=True) as connection:
        for path in sorted(_DATA.glob("*.sql")):
            connection.execute(path.read_text())
        connection.execute(SchemaManager.get_schema())
    yield found
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f"drop database {name} with (force)")


@pytest.fixture
def connect() -> Iterator[Callable[[str], Database]]:
    """Opens databases that are closed when the test ends."""
    from pipimem.store.fleet.database import Database

    made: list[Database] = []

    def connected(conninfo: str) -> Database:
        made.append(Database(conninfo))
        return made[-1]

    yield connected
    for database in made:
        database.close()
