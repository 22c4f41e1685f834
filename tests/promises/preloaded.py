"""What the server that forks the processes of tests imports once: all of pipimem that is light."""

from __future__ import annotations

import asyncio  # noqa: F401 - the event loop of the command line
import contextlib
import pkgutil
from importlib import import_module
from importlib.metadata import entry_points

import pipimem

entry_points(group="console_scripts", name="pipimem")["pipimem"].load()
for _module in pkgutil.walk_packages(pipimem.__path__, "pipimem."):
    # A module may need an extra that is not installed.
    with contextlib.suppress(ImportError):
        import_module(_module.name)
import_module("anyio._backends._asyncio")
