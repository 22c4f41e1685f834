"""The names that hosts may import, by the module that offers them."""

from __future__ import annotations

import inspect
from importlib import import_module

# `errors` and `settings` offer each class that they define.
MODULES = ("", "assistant", "errors", "logs", "observer", "results", "settings", "testing")


def names_of(module: str) -> list[str]:
    """Return the names that a public module offers, sorted."""
    found = import_module(module)
    listed: list[str] | None = getattr(found, "__all__", None)
    return sorted(listed or _defined_classes(vars(found), module))


def _defined_classes(names: dict[str, object], module: str) -> list[str]:
    return [
        name
        for name, value in names.items()
        if inspect.isclass(value) and value.__module__ == module and name[0] != "_"
    ]


PUBLIC: dict[str, object] = {
    name: getattr(import_module(module), name)
    for module in [f"pipimem.{name}".rstrip(".") for name in reversed(MODULES)]
    for name in names_of(module)
}
"""Each public value by its name; several modules may offer the same value."""
