"""Where secrets stand: every place is found, by kind and count, and none is quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pipimem.notes.message import Message
from pipimem.notes.operations import Decision
from pipimem.store import identity
from pipimem.store.channel import ChannelStore
from pipimem.store.health import kept_secrets
from pipimem.store.health.finding import Finding
from pipimem.store.health.kept_secrets import logged_bytes, secrets_in_file, secrets_in_logs

from tests.store.conftest import NOW

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
OTHER_KEY = "sk-proj-z9Y8x7W6v5U4t3S2r1Q0p9O8n7M6l5K4"
PASSWORD = "the password is hunter2x"


def found(channel: ChannelStore) -> list[Finding]:
    """What is found in logs and titles; nothing of it holds a value."""
    findings = list(secrets_in_logs(channel.workspace, lambda _: None))
    told = " ".join(f"{one.where} {one.what}" for one in findings)
    assert not any(value in told for value in (KEY, OTHER_KEY, "hunter2x"))
    return findings


def test_a_file_is_told_by_kind_with_count_and_lines() -> None:
    """Two keys and a password: two findings; a title is called one; no value is quoted."""
    text = f"# Memory\n\n## {PASSWORD}\n\n- {KEY}\n- tea\n- {OTHER_KEY}\n"
    password, key = secrets_in_file(Path("MEMORY.md"), text)
    assert (password.where, password.kind, password.count) == ("MEMORY.md, line 3", "password", 1)
    assert "line 3 (a title)" in password.what
    assert (key.where, key.kind, key.count) == ("MEMORY.md, line 5", "openai-key", 2)
    assert "line 5, line 7" in key.what
    assert not any(KEY in one.what or "hunter2x" in one.what for one in (password, key))


def test_a_transcript_is_told_by_kind_with_count_and_messages(channel: ChannelStore) -> None:
    """The content and the names of who spoke; the first three messages are named."""
    said = [Message.user(f"use {KEY} {number}", id=f"m{number}") for number in range(5)]
    channel.append([*said, Message.user("hello", id="n1", speaker=PASSWORD)])
    key, password = found(channel)
    assert (key.wrong, key.where) == (True, str(channel.transcript.path))
    assert (key.kind, key.count) == ("openai-key", 5)
    assert "message m0, message m1, message m2, …" in key.what
    assert (password.kind, password.count) == ("password", 1)
    assert "message n1" in password.what


def test_damaged_lines_and_parts_set_aside_are_looked_through(channel: ChannelStore) -> None:
    """A line that is no message can hold a secret as well."""
    older = channel.transcript.path.with_name("log-0001.jsonl")
    older.write_text(f'{{"id": "x", "content": "{KEY}\n')
    channel.append([Message.user("tea")])
    assert [(one.kind, one.count) for one in found(channel)] == [("openai-key", 1)]


def test_a_state_is_looked_through(channel: ChannelStore, add: Callable[..., Decision]) -> None:
    """What was in a note and was taken out stands there still."""
    channel.commit(add(f"alice uses {KEY}"), NOW)
    path = channel.folder / "MEMORY.md"
    path.write_text(path.read_text().replace(KEY, "a key"))
    channel.record_edits(NOW)
    (one,) = found(channel)
    assert (one.where, one.kind) == (str(channel.folder / ".pipimem/state.db"), "openai-key")
    assert one.count == 1


def test_a_channels_title_is_looked_through(channel: ChannelStore) -> None:
    """Hosts name channels after anything."""
    known = identity.load(channel.folder)
    assert known is not None
    named = identity.Identity(known.id, known.kind, f"ops, {PASSWORD}", known.key)
    identity.save(channel.folder, named, identity.Kept())
    (one,) = found(channel)
    path = str(channel.folder / ".pipimem/channel.json")
    assert (one.where, one.kind, one.count) == (path, "password", 1)


def test_of_very_long_logs_the_newest_are_looked_through(
    channel: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was left out is said."""
    older = channel.transcript.path.with_name("log-0001.jsonl")
    older.write_text(json.dumps({"id": "x", "n": 1, "role": "user", "content": KEY}) + "\n")
    channel.append([Message.user("tea")])
    monkeypatch.setattr(kept_secrets, "_MOST_BYTES", 100)
    (one,) = found(channel)
    assert (one.wrong, one.kind) == (False, "")
    assert f"{older.stat().st_size:,} bytes of older parts" in one.what


def test_it_tells_how_far_it_is(channel: ChannelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to all the bytes there are."""
    channel.append([Message.user("tea"), Message.user("cake")])
    monkeypatch.setattr(kept_secrets, "_REPORT_EVERY", 1)
    moved: list[int] = []
    assert list(secrets_in_logs(channel.workspace, moved.append)) == []
    assert moved == sorted(moved)
    assert moved[-1] == logged_bytes(channel.workspace)
