"""`pipimem chat`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.servers.openai import ChatRequest, OpenAIServer, Reply


def log(bot: Path) -> list[tuple[str, str]]:
    """Who said what, as the transcript has it."""
    lines = (bot / "channels/tea/log.jsonl").read_text().splitlines()
    return [(row["role"], row["content"]) for row in map(json.loads, lines)]


def test_offline_memory_answers_honestly(call: Call, bot: Path) -> None:
    """No model replies, and it says so; what memory found is told, and only the person's words
    are written.
    """
    call("remember", "tea", "林晓喜欢乌龙茶", "--kind", "preference")
    told = call("chat", "tea", "--speaker", "林晓", typed="乌龙茶还有吗？\nhello\n")
    assert told.code == 0
    assert told.out.splitlines() == [
        "(offline, no model replies) Memory has: 林晓喜欢乌龙茶",
        "(offline, no model replies) Noted in the transcript; what memory holds in general stands above.",
    ]
    assert "  [MEMORY: 偏好]\n  - 林晓喜欢乌龙茶\nalready shown above: 林晓喜欢乌龙茶\n" in told.err
    assert log(bot) == [("user", "乌龙茶还有吗？"), ("user", "hello")]


def test_what_was_said_counts_as_found(call: Call, tmp_path: Path) -> None:
    """Memory may have it in the transcript alone: the reply and /why tell who said it, and when."""
    talk = tmp_path / "talk.jsonl"
    said = {"role": "assistant", "name": "pipi", "content": "If it rains the museum is open"}
    talk.write_text(json.dumps({**said, "id": "a1"}) + "\n")
    call("replay", "tea", str(talk))
    told = call("chat", "tea", "--speaker", "Tom", typed="what do we do if it rains?\n/why\n")
    reply, *why = told.out.splitlines()
    assert reply.startswith("(offline, no model replies) Memory has: ")
    assert "pipi: If it rains the museum is open" in reply
    assert "pipi: If it rains the museum is open" in why[-1]


def test_who_asks_to_forget_is_told_how(call: Call) -> None:
    """Asking removes nothing, and nothing says so but the command line."""
    told = call("chat", "tea", typed="forget my address\ndon't forget the meeting\n")
    assert told.err.count("nothing is forgotten by asking: /forget X ") == 1


def test_the_commands_do_what_the_help_says(call: Call, bot: Path) -> None:
    """/why, /memory, /usage, /compact, /new, /forget with a question back, /help, /quit."""
    typed = "/why\nI like oolong tea\n/memory\n/usage\n/compact\n/new\n/forget oolong\ny\n/forget oolong\nn\n/help\n/quit\nnever read\n"
    out = call("chat", "tea", typed=typed).out
    for told in (
        "nothing was recalled: nothing was said yet", "MEMORY.md ──", "0 calls, 0 tokens in", "consolidated: 1 message covered",
        "This would go:", "forgotten: ", "nothing was forgotten", "/quit     leave",
    ):  # fmt: skip
        assert told in out, told
    assert "never read" not in (bot / "channels/tea/log.jsonl").read_text()
    assert "oolong" not in "".join(p.read_text() for p in (bot / "channels/tea").glob("*.md"))


def test_status_says_how_the_channel_stands(call: Call) -> None:
    """As `pipimem status` does, of this channel alone."""
    call("remember", "other", "Bob likes tea")
    call("remember", "tea", "The port is 8080")
    out = call("chat", "tea", typed="hello\n/status\n").out
    (row,) = [line.split("\t") for line in out.splitlines() if line.startswith(("tea", "other"))]
    assert row[:5] == ["tea", "dm", "1", "1", "1"]


def test_a_command_there_is_not_is_told(call: Call) -> None:
    """What begins with a slash is no message; a bare /forget is told what it wants."""
    told = call("chat", "tea", typed="/forgte tea\n/forget\n")
    assert "there is no /forgte; there are\n/memory " in told.out
    assert told.out.endswith("say what: /forget and a text or an entry's id\n")


def test_a_model_replies_with_memory_before_the_message(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands goes behind the system prompt; the reply is printed and written."""
    asked: list[ChatRequest] = []

    def respond(request: ChatRequest) -> Reply:
        asked.append(request)
        return Reply("Oolong it is.")

    call("remember", "tea", "林晓喜欢乌龙茶", "--kind", "preference")
    with OpenAIServer(respond) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "test")
        told = call("chat", "tea", typed="乌龙茶还有吗？\n", model="openai/test")
    assert told.out == "Oolong it is.\n"
    assert "## Your memory" in asked[0].system
    assert "- 林晓喜欢乌龙茶\n</pipimem-memory-" in asked[0].system
    assert asked[0].user == "乌龙茶还有吗？"
    assert log(bot)[:2] == [("user", "乌龙茶还有吗？"), ("assistant", "Oolong it is.")]
    usage = {line["task"]: line["calls"] for line in call("usage", "--json").lines}
    assert usage["chat"] == 1


def test_without_a_key_the_message_is_kept(call: Call, bot: Path) -> None:
    """Exit 1 with what to set; what was said is in the transcript."""
    told = call("chat", "tea", typed="hello\n", model="openai/gpt-5-mini")
    assert (
        told.code,
        "no reply: No key for openai/gpt-5-mini: set OPENAI_API_KEY" in told.err,
    ) == (1, True)
    assert log(bot) == [("user", "hello")]


def test_off_the_record_nothing_is_written(call: Call, bot: Path) -> None:
    """From /private on to /private off; the command says how it stands."""
    typed = "/private\n/private on\nmy quetzal is ill\n/private off\nhello\n/private maybe\n"
    out = call("chat", "tea", typed=typed).out.splitlines()
    assert out[:2] == ["on the record", "off the record: nothing is written"]
    assert "Off the record; memory has nothing to add." in out[2]
    assert out[-1] == "say /private on or /private off"
    assert log(bot) == [("user", "hello")]
    files = [path.read_bytes() for path in bot.rglob("*") if path.is_file()]
    assert not any(b"quetzal" in data for data in files)


def test_what_is_hidden_of_a_message_is_told(call: Call, bot: Path) -> None:
    """And that a tag was never closed."""
    told = call("chat", "tea", typed="a <private>b</private>\nc <private>d\n").err
    assert "1 private stretch not written (22 characters, 11 kept)\n" in told
    assert "a private tag is never closed in this message\n" in told
    assert log(bot) == [("user", "a [PRIVATE]"), ("user", "c [PRIVATE]")]
