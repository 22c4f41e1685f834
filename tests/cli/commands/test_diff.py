"""`pipimem diff`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, snapshot


def test_diff_shows_the_newest_change(call: Call, bot: Path) -> None:
    """As a unified diff; a hand edit that nobody has recorded yet is newer; nothing is
    written.
    """
    call("remember", "room", "端口是 8080")
    call("remember", "room", "Bob likes tea")
    lines = call("diff", "room").out.splitlines()
    assert [line for line in lines if line.startswith(("+", "-"))][2:] == ["+- Bob likes tea"]
    memory = bot / "channels/room/MEMORY.md"
    memory.write_text(memory.read_text().replace("8080", "9090"))
    before = snapshot(bot)
    lines = call("diff", "room").out.splitlines()
    assert [line for line in lines if line.startswith("+-")] == ["+- 端口是 9090"]
    assert snapshot(bot) == before


def test_diff_between_two_moments_and_of_one_file(call: Call, bot: Path) -> None:
    """By numbers or times; for scripts one line a file."""
    for text in ("The port is 8080", "Bob likes tea", "Carol likes tea"):
        call("remember", "room", text)
    told = call("diff", "room", "MEMORY.md", "--since", "1", "--until", "2", "--json")
    assert (told.object["file"], told.object["since"], told.object["until"]) == ("memory", 1, 2)
    assert "+- Bob likes tea" in str(told.object["diff"])
    assert "Carol" not in str(told.object["diff"])
    same = call("diff", "room", "--since", "2100-01-01")
    assert (same.code, same.out, "nothing changed between" in same.err) == (0, "", True)
    assert [line["file"] for line in call("diff", "room", "--json").lines] == [
        "session",
        "memory",
        "history",
    ]
    assert (call("diff", "room", "--since", "99").code, call("diff", "room", "soul").code) == (1, 2)


def test_diff_tells_of_line_ends(call: Call, bot: Path) -> None:
    """A change nobody would see is named."""
    call("remember", "room", "The port is 8080")
    memory = bot / "channels/room/MEMORY.md"
    memory.write_bytes(memory.read_bytes().replace(b"\n", b"\r\n"))
    assert "only line ends changed" in call("diff", "room").out


def test_diff_takes_days_in_words(call: Call) -> None:
    """It changes nothing, so a word may say the day; restore wants digits, and says so."""
    call("remember", "room", "The port is 8080")
    for day in ("yesterday", "昨天", "3 days ago"):
        assert "+- The port is 8080" in call("diff", "room", "memory", "--since", day).out
    assert "3 days ago, 上周" in call("diff", "room", "--since", "wibble").err
    refused = call("restore", "room", "--to", "昨天", "--yes")
    assert (refused.code, "words are not taken here" in refused.err) == (2, True)
