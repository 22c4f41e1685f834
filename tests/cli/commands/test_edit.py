"""`pipimem edit`."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Call


def test_edit_opens_the_editor_and_tells_what_changed(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change has a number, by which it is taken back; without one nothing is noted."""
    call("remember", "room", "the roof is red")
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "true")
    assert call("edit", "room").out == "nothing was changed\n"
    monkeypatch.setenv("EDITOR", "sed -i s/red/blue/")
    told = call("edit", "room", "memory")
    assert told.out.startswith("MEMORY.md: change 2\n")
    assert "`pipimem undo room 2` takes it back" in told.err
    assert "blue" in call("show", "room", "memory").out
    call("undo", "room", "2")
    assert "red" in call("show", "room", "memory").out


def test_an_editor_that_is_not_there_is_told(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what helps."""
    call("remember", "room", "the roof is red")
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", "no-such-editor-here")
    told = call("edit", "room")
    assert (told.code, "set EDITOR" in told.err) == (1, True)
