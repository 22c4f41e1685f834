"""`pipimem watch` among several hosts, as a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path


def command(root: Path, *words: str) -> list[str]:
    """The command line on a workspace, without a model."""
    return [sys.executable, "-m", "pipimem", "--workspace", str(root), "--model", "offline", *words]


def test_a_worker_begins_and_stops(root: Path) -> None:
    """SIGTERM ends it."""
    with subprocess.Popen(
        command(root, "watch", "--fleet"), stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stderr is not None
        assert worker.stderr.readline().startswith("watching ")
        worker.send_signal(signal.SIGTERM)
        assert worker.stderr.read().splitlines()[-1] == "stopped; the files are whole"
    assert worker.returncode == 0


def test_without_the_option_it_refuses(root: Path) -> None:
    """It says what does the work."""
    done = subprocess.run(command(root, "watch"), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "`pipimem watch --fleet` does the idle work" in done.stderr


def test_without_a_database_it_says_so(root: Path) -> None:
    """And no traceback."""
    address = "postgresql://bot:s3cret@127.0.0.1:1/none"
    (root / "pipimem.toml").write_text(f'[fleet]\ndatabase = "{address}"\n')
    done = subprocess.run(
        command(root, "watch", "--fleet"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    assert "Traceback" not in done.stderr
    assert "s3cret" not in done.stderr
