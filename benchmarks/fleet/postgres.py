"""A PostgreSQL server of its own, on a socket in a temporary folder, as a user who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/lib/postgresql")
_USER = "postgres"
_OPTIONS = "-c listen_addresses='' -c fsync=off -c shared_buffers=64MB -c max_connections=200"


def binaries() -> Path | None:
    """The folder of the newest server that is installed; `None` without one."""
    found = [path.parent for top in _FOLDERS for path in Path(top).glob("*/bin/initdb")]
    on_path = shutil.which("initdb")
    if not found and on_path:
        found = [Path(on_path).resolve().parent]
    return max(found, default=None)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started; `port` names its socket in `folder`."""

    folder: Path
    bin: Path
    port: int = 54329

    @property
    def address(self) -> str:
        """What a client connects to."""
        return f"postgresql:///postgres?host={self.folder}&port={self.port}&user={_USER}"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        options = f"{_OPTIONS} -p {self.port} -k {self.folder} {self.more}"
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-l", f"{self.folder}/log", "-o", options, "start"
        )

    @property
    def more(self) -> str:
        """Options for it alone."""
        return os.environ.get("PIPIMEM_TEST_POSTGRES", "")

    @property
    def is_running(self) -> bool:
        """Whether it was started, and not stopped since."""
        return (Path(self._data) / "postmaster.pid").exists()

    def stop(self, how: str = "immediate") -> None:
        """Stops it, as a crash does by default."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", how, "stop")

    def sql(self, statement: str) -> str:
        """What a statement prints."""
        command = (
            "psql",
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            "-U",
            _USER,
            "-Atqc",
            statement,
            "postgres",
        )
        return self._run(*command)

    def dump(self) -> str:
        """All that the database holds."""
        return self._run(
            "pg_dump", "-h", str(self.folder), "-p", str(self.port), "-U", _USER, "postgres"
        )

    @property
    def _data(self) -> str:
        return f"{self.folder}/data"

    def create(self) -> None:
        """Makes its data folder."""
        self._run("initdb", "-D", self._data, "-U", _USER, "--auth=trust", "-N", "-E", "UTF8")

    def _run(self, name: str, *arguments: str) -> str:
        command = [str(self.bin / name), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", _USER, "--", *command]
        # A server that goes on must not hold our pipes.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, cwd="/", check=False
            )
            output.seek(0)
            text = output.read()
        if done.returncode:
            raise RuntimeError(f"{name} failed: {text}")
        return text


@contextmanager
def running() -> Iterator[Server]:
    """A server, started, and gone at the end. Raises `RuntimeError` where none is installed."""
    found = binaries()
    if found is None:
        raise RuntimeError("no PostgreSQL server: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pipimem-postgres-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, pwd.getpwnam(_USER).pw_uid)
        folder.chmod(0o755)
    server = Server(folder, found)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
