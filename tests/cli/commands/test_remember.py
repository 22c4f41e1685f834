"""`pipimem remember`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_remember_makes_the_channel_and_writes_the_entry(call: Call, bot: Path) -> None:
    """Word for word, in the section of its kind."""
    told = call("remember", "room", "以后发布说明用中文写", "--kind", "preference", "--group")
    assert (
        told.code,
        told.out.startswith("MEMORY.md · 偏好: added: 以后发布说明用中文写  ["),
    ) == (0, True)
    assert "## 偏好\n\n- 以后发布说明用中文写" in (bot / "channels/room/MEMORY.md").read_text()
    assert call("status", "--json").object["channels"][0]["kind"] == "group"  # type: ignore[index]


def test_remembering_twice_confirms(call: Call, bot: Path) -> None:
    """The entry stands once."""
    call("remember", "room", "The port is 8080")
    told = call("remember", "room", "The port is 8080")
    assert (told.code, "stands there already" in told.out) == (0, True)
    assert (bot / "channels/room/MEMORY.md").read_text().count("8080") == 1


def test_a_secret_is_never_written(call: Call, bot: Path) -> None:
    """The key is masked; the rest of the sentence stays."""
    call("remember", "room", "the api key is sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6")
    assert "sk-proj" not in "".join(
        path.read_text()
        for path in (bot / "channels").rglob("*")
        if path.is_file() and path.name != "lock"
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [("  ", "the text is empty"), ("<private>mine</private>", "nothing left to remember")],
)
def test_nothing_to_remember_is_told(call: Call, bot: Path, text: str, says: str) -> None:
    """It ends with exit 1 and a sentence, and makes no channel."""
    told = call("remember", "room", text)
    assert (told.code, says in told.err, "was made" in told.err) == (1, True, False)
    assert list((bot / "channels").iterdir()) == []


def test_for_scripts_the_changes_are_one_object(call: Call) -> None:
    """With the entry's id, which forget takes."""
    (change,) = call("remember", "room", "The port is 8080", "--json").object["changes"]  # type: ignore[misc]
    assert (change["verb"], change["section"], change["text"]) == (
        "added",
        "Facts",
        "The port is 8080",
    )
    assert call("forget", "room", change["id"], "--yes").code == 0


def test_whoever_mistyped_a_channel_sees_it(call: Call) -> None:
    """The channel is made, and the one that was perhaps meant is named; one that is there is no
    news.
    """
    assert call("remember", "room", "The port is 8080").err == "room is new; the channel was made\n"
    assert (
        call("remember", "romo", "The port is 8080").err
        == "romo is new; the channel was made (there is also room)\n"
    )
    assert (
        call("remember", "room", "The hall is open", "--group").err
        == "room is a dm already and stays one\n"
    )


def test_a_last_day_that_is_over_is_refused_in_a_sentence(call: Call, bot: Path) -> None:
    """With today's day, so that a slip in the year is seen; nothing is written."""
    call("remember", "room", "The port is 8080")
    told = call("remember", "room", "the code freeze is on", "--until", "2025-12-01")
    assert (told.code, "2025-12-01 is over: today is 20" in told.err) == (1, True)
    assert "freeze" not in (bot / "channels/room/MEMORY.md").read_text()
