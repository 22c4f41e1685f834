"""What import-linter cannot see: a name of the store that the runtime passes on."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from pipimem.store.channel import ChannelStore
from pipimem.store.opened_channel import OpenedChannel

HOUSE = Path(__file__).parents[2] / "pipimem"
CLI = [
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((HOUSE / "cli").rglob("*.py"))
]


def test_no_command_holds_a_channel_of_the_store() -> None:
    """It asks a `ChannelAccess`, or a `Channel`: what the store writes, the runtime decides."""
    holders = {
        module
        for module in CLI
        for value in vars(import_module(module)).values()
        if value in (ChannelStore, OpenedChannel)
    }
    assert len(CLI) > 30
    assert holders == set()
