"""`pipimem channels`."""

from __future__ import annotations

from tests.cli.conftest import Call


def test_channels_lists_which_there_are(call: Call) -> None:
    """With kind and folder; an empty workspace says so."""
    assert "there is no channel yet" in call("channels").err
    call("remember", "room", "the roof is red", "--group")
    call("remember", "tom", "the roof is red")
    assert call("channels").out.splitlines()[1:] == [
        "room\tgroup\t\tchannels/room",
        "tom\tdm\t\tchannels/tom",
    ]
    assert [line["id"] for line in call("channels", "--json").lines] == ["room", "tom"]
