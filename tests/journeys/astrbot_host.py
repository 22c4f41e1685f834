"""Drives the AstrBot plugin as AstrBot does, without AstrBot; prints what it saw as JSON.

Run by the Python of an environment that has `mcp<2`. Arguments: the command of pipimem, and the
workspace. What is stood in for is the little of AstrBot's interface that the plugin uses.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

FOLDER = Path(__file__).parents[2] / "integrations" / "astrbot"
ROOM, OTHER = "dingtalk:GroupMessage:cid/1=", "dingtalk:FriendMessage:2"
WARNINGS: list[str] = []


class Star:
    """The base class of plugins."""

    def __init__(self, context: Any) -> None:
        self.context = context


def _stand_in(name: str, **names: Any) -> None:
    module = ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module


def _kept(*_: Any, **__: Any) -> Any:
    return lambda function: function


def _plugin() -> Any:
    """The plugin's module, imported as a part of its folder."""
    _stand_in("astrbot")
    logger = SimpleNamespace(warning=WARNINGS.append)
    _stand_in("astrbot.api", AstrBotConfig=dict, logger=logger)
    hooks = SimpleNamespace(on_llm_request=_kept, llm_tool=_kept)
    _stand_in("astrbot.api.event", AstrMessageEvent=object, filter=hooks)
    _stand_in("astrbot.api.provider", ProviderRequest=object)
    _stand_in("astrbot.api.star", Context=object, Star=Star)
    package = ModuleType("plugin")
    package.__path__ = [str(FOLDER)]
    sys.modules["plugin"] = package
    return importlib.import_module("plugin.main")


def _event(conversation: str) -> Any:
    return SimpleNamespace(unified_msg_origin=conversation, get_sender_name=lambda: "Dana")


async def _prompt(plugin: Any, conversation: str, text: str) -> str:
    """The system prompt of a request."""
    request = SimpleNamespace(system_prompt="You are pipi.", prompt=text)
    await plugin.remember(_event(conversation), request)
    return str(request.system_prompt)


def _kill_children() -> int:
    """Ends the processes of memory as a lack of memory does; how many there were."""
    children = Path("/proc/self/task").glob("*/children")
    numbers = [int(number) for path in children for number in path.read_text().split()]
    for number in numbers:
        os.kill(number, signal.SIGKILL)
    return len(numbers)


async def drive(command: str, workspace: str) -> dict[str, Any]:
    module = _plugin()
    schema = json.loads((FOLDER / "_conf_schema.json").read_text("utf-8"))
    config = {name: key["default"] for name, key in schema.items()}
    # One process at a time: each conversation that speaks ends that of the other one.
    config |= {"command": command, "workspace": workspace, "processes": 1, "seconds": 60}
    plugin = module.PipimemPlugin(None, config)
    seen: dict[str, Any] = {"empty": await _prompt(plugin, ROOM, "good morning")}
    rule = "We never deploy on Fridays."
    seen["saved"] = await plugin.save(_event(ROOM), rule, "constraint")
    await plugin.save(_event(ROOM), "The staging database runs Postgres 16.")
    seen["wrong"] = await plugin.save(_event(ROOM), "x", "rule")
    seen["asked"] = await _prompt(plugin, ROOM, "Which Postgres runs on staging?")
    seen["other"] = await _prompt(plugin, OTHER, "Which Postgres runs on staging?")
    seen["again"] = await _prompt(plugin, ROOM, "hello")
    found = json.loads(await plugin.search(_event(ROOM), "Fridays"))
    ids = [hit["id"] for hit in found["hits"] if rule in hit["text"]]
    seen["forgotten"] = await plugin.forget(_event(ROOM), ids)
    seen["after"] = await _prompt(plugin, ROOM, "hello")
    await plugin.save(_event(ROOM), rule, "constraint")
    seen["killed"] = _kill_children()
    seen["healed"] = await _prompt(plugin, ROOM, "hello")
    rooms = [f"dingtalk:GroupMessage:{number}" for number in range(3)]
    seen["at once"] = await asyncio.gather(*(_prompt(plugin, room, "hello") for room in rooms))
    await plugin.terminate()
    broken = module.PipimemPlugin(None, {**config, "command": "no-such-program"})
    seen["broken"] = await _prompt(broken, ROOM, "hello")
    seen["warnings"] = WARNINGS
    await broken.terminate()
    return seen


sys.stdout.write(json.dumps(asyncio.run(drive(*sys.argv[1:]))))
