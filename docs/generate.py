"""Writes the generated pages of docs/reference: settings, command line, Python.

Usage: python docs/generate.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from enum import EnumType
from pathlib import Path
from typing import get_type_hints

import click
import msgspec
import pipimem
from pipimem.cli.commands import pipimem as main
from pipimem.runtime.observability.metric_names import METRICS

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
_KEY = re.compile(r"^# (?P<key>\w+) = (?P<default>.*?) {1,}# (?P<text>.*)$")
_BARE_KEY = re.compile(r"^# (?P<key>\w+) = (?P<default>.*)$")


def settings_page() -> str:
    """The keys of `pipimem.toml`, from the comments of the template."""
    lines = [
        "# Settings",
        "",
        "Every key of `pipimem.toml` is optional. "
        "Unknown keys and wrong types are refused with a sentence.",
    ]
    template = (ROOT / "workspace-template" / "pipimem.toml").read_text("utf-8")
    for line in template.splitlines():
        if table := re.match(r"^\[(\w+)\]", line):
            lines += ["", f"## `[{table[1]}]`", "", "| key | default | what |", "|---|---|---|"]
        elif found := _KEY.match(line) or _BARE_KEY.match(line):
            text = found.groupdict().get("text") or ""
            lines.append(f"| `{found['key']}` | `{found['default'].strip()}` | {text} |")
        elif more := re.match(r"^ {2,}# +(?P<more>.*)$", line):
            lines[-1] = lines[-1].removesuffix(" |") + f" {more['more']} |"
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """The help of every command, as `pipimem COMMAND --help` prints it."""
    lines = ["# Command line", "", "Generated from `pipimem COMMAND --help`.", ""]
    context = click.Context(main, info_name="pipimem", max_content_width=100, terminal_width=100)
    lines += ["```text", main.get_help(context), "```"]
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        inner = click.Context(
            command, info_name=name, parent=context, max_content_width=100, terminal_width=100
        )
        lines += ["", f"## `{name}`", "", "```text", command.get_help(inner), "```"]
    return "\n".join(line.rstrip() for line in "\n".join(lines).splitlines()) + "\n"


def _signature(name: str, value: object) -> str:
    if isinstance(value, EnumType):
        return "\n".join(f'{name}.{member.name} = "{member.value}"' for member in value)
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    if inspect.isclass(value) and issubclass(value, msgspec.Struct):
        hints = get_type_hints(value)  # without the bounds that a model's answer is held to
        fields = [
            field.replace(annotation=hints[field.name]) for field in signature.parameters.values()
        ]
        signature = signature.replace(parameters=fields)
    text = re.sub(r"\b(typing|datetime|collections\.abc)\.(?=[A-Za-z])", "", str(signature))
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    # A default that is a function shows its address, which changes with every run.
    text = re.sub(r"<(?:function .*?|bound method .*?) at 0x[0-9a-f]+>|<built-in[^>]*>", "…", text)
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    return name + re.sub(r"\bpipimem(\.\w+)+\.", "", text)


def _members(value: type) -> list[tuple[str, object]]:
    """The public methods and properties, its own and those of our classes that it extends."""
    found = []
    members = {
        name: member
        for each in reversed(value.__mro__)
        if each.__module__.startswith("pipimem.")
        for name, member in vars(each).items()
        if not name.startswith("_")
    }
    for name, member in members.items():
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if inspect.isfunction(member) or isinstance(member, property):
            found.append((name, member))
    return found


def api_page() -> str:
    """Every name of `pipimem.__all__`, with its methods, from signatures and docstrings."""
    lines = ["# Python", "", "Everything that `from pipimem import …` offers."]
    for name in pipimem.__all__:
        value = getattr(pipimem, name)
        lines += ["", f"## `{name}`", ""]
        if inspect.isclass(value):
            if not issubclass(value, BaseException):
                lines += ["```python", _signature(name, value), "```", ""]
            lines.append(inspect.getdoc(value) or "")
            for method, member in _members(value):
                if isinstance(member, property):
                    heading = f"{name}.{method}"
                    text = inspect.getdoc(member) or ""
                else:
                    prefix = "await " if inspect.iscoroutinefunction(member) else ""
                    heading = prefix + _signature(f"{name}.{method}", member)
                    text = inspect.getdoc(member) or ""
                lines += ["", f"### `{heading}`", "", text]
        else:
            lines.append(inspect.getdoc(value) or f"`{value!r}`")
    return "\n".join(lines).rstrip() + "\n"


def metrics_page() -> str:
    """Every metric that `--metrics` exports."""
    lines = [
        "# Metrics",
        "",
        "What `--metrics HOST:PORT` exports; how it is turned on and read: "
        "[observability](../guide/observability.md).",
        "",
        "| metric | type | labels | what |",
        "|---|---|---|---|",
    ]
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        lines.append(f"| `{metric.name}` | {metric.kind} | {labels} | {metric.help} |")
    return "\n".join(lines) + "\n"


PAGES = {
    "settings.md": settings_page,
    "cli.md": cli_page,
    "api.md": api_page,
    "metrics.md": metrics_page,
}


def outdated() -> list[str]:
    """The names of the pages that are not as they would be written now."""
    found = []
    for name, page in PAGES.items():
        path = REFERENCE / name
        if not path.exists() or path.read_text("utf-8") != page():
            found.append(name)
    return found


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(names)}" if (names := outdated()) else 0)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), "utf-8")
