"""`pipimem consolidate`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call


def test_the_receipt_is_printed(call: Call, conversation: Path) -> None:
    """What it covered and how far consolidation came."""
    call("replay", "room", str(conversation))
    told = call("consolidate", "room", "--json").object
    assert (told["may_compact"], told["state"], told["covered"], told["cursor"]) == (True, "consolidated", 6, 6)
    assert "consolidated: 6 messages covered" in call("consolidate", "room").out


def test_a_model_that_fails_is_exit_one_and_defers(call: Call, conversation: Path) -> None:
    """The receipt still comes out; the reason is on standard error."""
    call("replay", "room", str(conversation), model="nosuch/model")
    told = call("consolidate", "room", "--json", model="nosuch/model")
    assert (told.code, told.object["state"], told.object["may_compact"]) == (1, "deferred", True)
    assert "not consolidated: " in told.err


def test_it_makes_no_channel(call: Call, bot: Path) -> None:
    """An unknown one is an error."""
    assert call("consolidate", "rome").code == 1
    assert list((bot / "channels").iterdir()) == []
