"""`pipimem dingtalk` where something it needs is missing; it is driven in `tests/interfaces/bots/`."""

from __future__ import annotations

import sys

import pytest

from tests.cli.conftest import Call


def test_without_the_extra_it_says_how_to_get_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence."""
    for name in [name for name in sys.modules if name.startswith("pipimem.bots.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    told = call("dingtalk")
    assert (told.code, told.out) == (1, "")
    assert told.err == (
        "pipimem: the DingTalk bot needs its library: pip install 'pipimem[dingtalk]'\n"
    )


def test_the_help_names_what_comes_from_the_environment(call: Call) -> None:
    """Id and secret are no options: they would stand in a list of processes."""
    told = call("dingtalk", "--help")
    assert "DINGTALK_CLIENT_ID and DINGTALK_CLIENT_SECRET" in told.out
    assert "--secret" not in told.out
