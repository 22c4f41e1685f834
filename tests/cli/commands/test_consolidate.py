"""`pipimem consolidate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipimem.cli.commands.consolidate import receipt_lines
from pipimem.clock import Clock
from pipimem.notes.operations import Author, Decision, Hole, Progress
from pipimem.runtime.turns import Receipt
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call


def set_aside(bot: Path, hole: Hole) -> None:
    """What failing thoughts leave in the ledger."""
    store = ChannelStore.open(WorkspaceStore.open(bot), "room", create=False)
    progress = Progress(cursor=6, boundary=6, holes=(hole,))
    store.commit(Decision("consolidate", Author.RULE, progress=progress), Clock().now())
    store.close()


def test_the_receipt_is_printed(call: Call, conversation: Path) -> None:
    """What it covered and how far consolidation came; nothing new is told as that."""
    call("replay", "room", str(conversation))
    told = call("consolidate", "room", "--json").object
    assert (told["may_compact"], told["state"], told["covered"], told["cursor"]) == (
        True,
        "consolidated",
        6,
        6,
    )
    assert call("consolidate", "room").out == "nothing new: 6 messages covered before\n"
    done = Receipt(True, "consolidated", 6, 6, steps=("consolidate: done",))
    assert (
        receipt_lines(done)[0] == "consolidated: 6 messages covered, consolidated up to message 6"
    )


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


def test_what_was_set_aside_is_told_and_tried_again(
    call: Call, bot: Path, conversation: Path
) -> None:
    """`status` and `doctor` tell it until `--holes` closes it; a model that still fails leaves
    it, with exit 1.
    """
    call("replay", "room", str(conversation), model="nosuch/model")
    set_aside(bot, Hole(3, 4, "the answer was refused"))
    assert call("status", "--json").object["channels"][0]["holes"] == [  # type: ignore[index]
        {"first": 3, "last": 4, "reason": "the answer was refused"}
    ]
    told = call("status")
    assert "room: 2 messages set aside; `pipimem consolidate room --holes` tries again" in told.err
    assert told.out.splitlines()[1].split("\t")[4] == "0"
    assert (
        "messages 3–4 were set aside (the answer was refused); `pipimem consolidate --holes"
        in call("doctor").out
    )
    failed = call("consolidate", "room", "--holes", model="nosuch/model")
    assert (failed.code, "1 of 1 are still set aside" in failed.err) == (1, True)
    told = call("consolidate", "room", "--holes", "--json").object
    assert told["holes"] == [{"first": 3, "last": 4, "closed": True, "reason": ""}]
    assert "lantern release is on Thursday" in (bot / "channels/room/HISTORY.md").read_text()
    assert call("consolidate", "room", "--holes").err == "nothing is set aside\n"
    assert call("doctor").code == 0


def test_a_fault_is_told_once(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """By consolidate, replay and doctor: one sentence each about the same missing key."""
    monkeypatch.setenv("PIPIMEM_MODEL", "openai/gpt-x")
    talk = '{"role": "user", "content": "we never deploy on Mondays"}\n'
    for told in (call("replay", "room", "-", typed=talk), call("consolidate", "room")):
        assert (told.code, (told.out + told.err).count("OPENAI_API_KEY")) == (1, 1), told
    told = call("doctor")
    assert (told.code, (told.out + told.err).count("OPENAI_API_KEY")) == (1, 1), told
