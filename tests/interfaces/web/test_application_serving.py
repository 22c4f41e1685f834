"""`pipimem ui --metrics`, as a process."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from pipimem import Pipimem

from tests.runtime.building import settings, workspace

CHANNEL = "cid6KeBBLoveM/AZ=="
SECONDS = 60


@pytest.mark.anyio
async def test_metrics_beside_the_pages_need_no_token(tmp_path: Path) -> None:
    """On an address of their own; they name no channel."""
    root = workspace(tmp_path)
    async with Pipimem(root, settings=settings()) as pipimem:
        await pipimem.channel(CHANNEL)
    words = ["ui", "--port", "0", "--no-browser", "--metrics", "127.0.0.1:0"]
    command = [sys.executable, "-m", "pipimem", "--workspace", root, "--model", "offline", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline() + process.stderr.readline()
            pages = re.search(r"(http://127\.0\.0\.1:\d+)/#token=", told)
            found = re.search(r"metrics at (http://127\.0\.0\.1:\d+)/metrics", told)
            assert pages, told
            assert found, told
            assert found[1] != pages[1]
            with urllib.request.urlopen(f"{found[1]}/metrics", timeout=SECONDS) as answer:
                text = answer.read().decode()
            with urllib.request.urlopen(f"{found[1]}/readyz", timeout=SECONDS) as answer:
                assert answer.read() == b"ready\n"
        finally:
            process.kill()
    assert "pipimem_channels 1\n" in text
    assert CHANNEL not in text
