"""The bot of examples/fastapi_bot.py: with the scripted assistant, and as a server of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from http.client import HTTPException
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pipimem import Kind
from pipimem.assistant import Consolidated, HistoryItem, Learned
from pipimem.testing import ScriptedAssistant

EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi_bot.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pipimem.toml").touch()
    return tmp_path


def app(root: Path, assistant: ScriptedAssistant) -> Any:
    spec = spec_from_file_location("fastapi_bot", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["fastapi_bot"] = module
    spec.loader.exec_module(module)
    return module.app_for(root, assistant)


def test_what_was_said_is_learnt_and_given_in_the_next_session(root: Path) -> None:
    """A message that a platform sends twice is stored once, and an unknown conversation is 404."""
    learned = Learned(Kind.PREFERENCE, "Dana is allergic to peanuts", ("m1",), "Dana")
    history = (HistoryItem("Dana cannot eat peanuts", ("m1",)),)
    answer = Consolidated((learned,), title="Lunch", history=history)
    assistant = ScriptedAssistant({"consolidate": [answer]})
    said = {"channel": "room/1", "speaker": "Dana", "text": "no peanuts for me, please", "id": "m1"}
    with TestClient(app(root, assistant)) as client:
        assert client.post("/messages", json=said).json() == {"reply": "Noted.", "problem": ""}
        client.post("/messages", json=said)
        ended = client.post("/sessions/end", params={"channel": "room/1"})
        assert ended.json() == {"state": "consolidated", "reason": ""}
        (entry,) = client.get("/memory", params={"channel": "room/1"}).json()
        assert entry["text"] == "Dana is allergic to peanuts"
        asked = {**said, "text": "what about peanuts?", "id": "m2"}
        assert entry["text"] in client.post("/messages", json=asked).json()["reply"]
        other = {**asked, "channel": "room/2"}
        assert client.post("/messages", json=other).json()["reply"] == "Noted."
        assert client.get("/memory", params={"channel": "nowhere"}).status_code == 404
        assert client.post("/sessions/end", params={"channel": "nowhere"}).status_code == 404
        assert client.post("/messages", json={"channel": 3}).status_code == 422
    logs = [path for path in root.rglob("log.jsonl") if "peanuts for me" in path.read_text("utf-8")]
    assert logs[0].read_text("utf-8").count("no peanuts for me") == 1


def test_it_runs_as_its_first_lines_say_and_stops_when_told(tmp_path: Path) -> None:
    """On loopback; what was said before it stopped is learnt."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, EXAMPLE, tmp_path / "workspace", str(port)])
    try:
        said = {"channel": "room", "speaker": "Dana", "text": "@pipi remember: no peanuts for me"}
        assert _posted(port, said) == {"reply": "Noted.", "problem": ""}
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) in (0, -signal.SIGTERM)
    memory = tmp_path / "workspace" / "channels" / "room" / "MEMORY.md"
    assert "no peanuts for me" in memory.read_text("utf-8")


def _posted(port: int, message: dict[str, str]) -> Any:
    """The answer of a server that may still be starting."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/messages",
        json.dumps(message).encode(),
        {"Content-Type": "application/json"},
    )
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)
        except (OSError, HTTPException):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
