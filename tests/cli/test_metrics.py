"""`--metrics` of a command that stays: on loopback unless it is told otherwise."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Call

SECONDS = 60


def test_watch_serves_metrics_and_readiness(bot: Path) -> None:
    """Ready once it does the idle work; a second one, which does not, is refused as before."""
    words = [sys.executable, "-m", "pipimem", "--workspace", str(bot), "--model", "offline"]
    with subprocess.Popen(
        [*words, "watch", "--metrics", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
    ) as daemon:
        try:
            assert daemon.stderr is not None
            told = daemon.stderr.readline()
            found = re.fullmatch(
                r"metrics at (http://127\.0\.0\.1:\d+)/metrics, with /healthz and /readyz\n", told
            )
            assert found, told
            assert daemon.stderr.readline().startswith("watching ")
            with urllib.request.urlopen(f"{found[1]}/metrics", timeout=SECONDS) as answer:
                assert "pipimem_maintenance_leader 1\n" in answer.read().decode()
            with urllib.request.urlopen(f"{found[1]}/readyz", timeout=SECONDS) as answer:
                assert answer.read() == b"ready\n"
            daemon.send_signal(signal.SIGTERM)
            _, rest = daemon.communicate(timeout=SECONDS)
        finally:
            daemon.kill()
    assert (rest, daemon.returncode) == ("stopped; the files are whole\n", 0)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{found[1]}/healthz", timeout=SECONDS)


def test_an_address_that_others_reach_wants_a_word(call: Call, bot: Path) -> None:
    """Nothing asks who scrapes: whoever means it says so."""
    ran = call("watch", "--metrics", "0.0.0.0:0")
    assert (ran.code, ran.out) == (2, "")
    assert "other machines would reach 0.0.0.0:0" in ran.err
    assert "--metrics-public" in ran.err


def test_what_is_no_address_is_a_sentence(call: Call, bot: Path) -> None:
    """And nothing is watched."""
    ran = call("watch", "--metrics", "nonsense")
    assert ran.code == 1
    assert "'nonsense' is no address for metrics: write HOST:PORT, or PORT" in ran.err


def test_a_replay_can_be_looked_at(call: Call, bot: Path, conversation: Path) -> None:
    """For the dashboard; the answer of the command is as it was."""
    plain = call("replay", "plain", str(conversation))
    watched = call("replay", "watched", str(conversation), "--metrics", "0")
    assert (watched.code, plain.code) == (0, 0)
    assert watched.out.replace("watched", "plain") == plain.out
    assert "metrics at http://127.0.0.1:" in watched.err
