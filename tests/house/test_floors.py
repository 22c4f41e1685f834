"""What import-linter cannot see: a name of the store that the runtime passes on."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

from pipimem.runtime.channel_access import ChannelAccess
from pipimem.store.channel import ChannelStore
from pipimem.store.opened_channel import OpenedChannel

HOUSE = Path(__file__).parents[2] / "pipimem"
CLI = [
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((HOUSE / "cli").rglob("*.py"))
]


def _takes_a_channels_files(value: object) -> bool:
    """Whether a function of the runtime is given what the parts of a channel share."""
    if not inspect.isfunction(value) or not value.__module__.startswith("pipimem.runtime"):
        return False
    taken = (parameter.annotation for parameter in inspect.signature(value).parameters.values())
    return any("ChannelAccess" in str(annotation).split("[")[0] for annotation in taken)


def test_a_command_asks_a_channel_or_its_parts() -> None:
    """What the store writes, the runtime decides; and there is one way to each thing."""
    holders = {
        f"{module}: {name}"
        for module in CLI
        for name, value in vars(import_module(module)).items()
        if value in (ChannelAccess, ChannelStore, OpenedChannel) or _takes_a_channels_files(value)
    }
    sources = [HOUSE.parent.joinpath(*module.split(".")) for module in CLI]
    texts = [
        path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        for path in sources
    ]
    names = {path.name for path in texts if "channel_access" in path.read_text(encoding="utf-8")}
    assert len(CLI) > 30
    assert (holders, names) == (set(), set())
