"""Writes the generated pages of docs/reference: settings, command line, Python.

Usage: python docs/generate.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from enum import EnumType
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import click
import msgspec
from pipimem import errors
from pipimem.cli.commands import pipimem as main
from pipimem.runtime.observability.metric_names import METRICS

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
_KEY = re.compile(r"^# (?P<key>\w+) = (?P<default>.*?) {1,}# (?P<text>.*)$")
_LONGEST_SIGNATURE = 88
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


# The modules that hosts import from; a name is shown with the first that has it.
PUBLIC_MODULES = (
    "pipimem",
    "pipimem.errors",
    "pipimem.settings",
    "pipimem.results",
    "pipimem.assistant",
    "pipimem.observer",
    "pipimem.logs",
    "pipimem.testing",
)


def names_of(module: ModuleType) -> list[str]:
    """Return the names that a public module offers: `__all__`, or the classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    classes = (value for value in vars(module).values() if inspect.isclass(value))
    own = (found.__name__ for found in classes if found.__module__ == module.__name__)
    return sorted(name for name in own if not name.startswith("_"))


def public_names() -> dict[str, str]:
    """Return the module to import each public name from, by name."""
    places: dict[str, str] = {}
    for module in PUBLIC_MODULES:
        for name in names_of(import_module(module)):
            places.setdefault(name, module)
    return places


def _signature(name: str, function: object) -> str:
    """Return a call without `self`, on several lines if it is long."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    if inspect.isclass(function) and issubclass(function, msgspec.Struct):
        hints = get_type_hints(function)  # without the bounds that a model's answer is held to
        fields = [
            field.replace(annotation=hints[field.name]) for field in signature.parameters.values()
        ]
        signature = signature.replace(parameters=fields)
    parameters = [item for item in signature.parameters.values() if item.name != "self"]
    bare = signature.replace(parameters=parameters)
    line = _plain(f"{name}{bare}").removesuffix(" -> None")
    if len(line) <= _LONGEST_SIGNATURE:
        return line
    kinds = [item.kind for item in parameters]
    items = [str(item) for item in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        items.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    empty = str(bare.replace(parameters=[]))
    tail = _plain(empty).removeprefix("()").removesuffix(" -> None")
    return "\n".join([f"{name}(", *(f"    {_plain(item)}," for item in items), f"){tail}"])


def _plain(text: str) -> str:
    """Return a signature as source has it: no module names, addresses or quotation marks."""
    text = re.sub(r"(: |-> )(['\"])(.*?)\2(?=[,)]| =|$)", r"\1\3", text)
    # A default that is a function shows its address, which changes with every run.
    text = re.sub(r"<(?:function .*?|bound method .*?) at 0x[0-9a-f]+>|<built-in[^>]*>", "…", text)
    text = re.sub(r"<(\w+\.\w+): [^>]*>", r"\1", text).replace("<factory>", "…")
    text = re.sub(r"ForwardRef\('([^']*)'\)", r"\1", text)
    return re.sub(r"\bpipimem(\.\w+)+\.", "", text)


def _members(value: type) -> list[tuple[str, object]]:
    """Return the public methods and properties, its own and those of our classes it extends."""
    members = {
        name: member
        for base in reversed(value.__mro__)
        if base.__module__.startswith("pipimem.")
        for name, member in vars(base).items()
        if not name.startswith("_")
    }
    return [
        (name, getattr(member, "__func__", member))
        for name, member in members.items()
        if isinstance(member, classmethod | staticmethod | property) or inspect.isfunction(member)
    ]


def _class_signature(name: str, value: type) -> list[str]:
    if isinstance(value, EnumType):
        return [f'{name}.{member.name} = "{member.value}"' for member in value]
    made_by_hosts = "__init__" in vars(value) or value.__init__ is not object.__init__
    if not made_by_hosts or getattr(value, "_is_protocol", False):
        return []
    return [_signature(name, value)]


def _class_lines(name: str, value: type, module: str, elsewhere: set[str]) -> list[str]:
    """Return the section of a class, without the members that are described elsewhere."""
    lines = ["", f"### `{name}`" if module == "pipimem" else f"### `{module}.{name}`", ""]
    if signature := _class_signature(name, value):
        lines += ["```python", *signature, "```", ""]
    lines.append(inspect.getdoc(value) or "")
    for method, _ in _members(value):
        if f"{name}.{method}" not in elsewhere:
            lines += _member_lines(name, value, method)
    return lines


def _member_lines(name: str, value: type, method: str) -> list[str]:
    """Return the section of a method or property. Raises `KeyError` if the class has none."""
    member = dict(_members(value))[method]
    lines = ["", f"#### `{name}.{method}`", ""]
    if not isinstance(member, property):
        prefix = "await " if inspect.iscoroutinefunction(member) else ""
        lines += ["```python", prefix + _signature(method, member), "```", ""]
    return [*lines, inspect.getdoc(member) or ""]


def api_page() -> str:
    """The public names by task: the text of `api.in.md`, with a section for each name it lists.

    A line `::: NAME CLASS.METHOD` becomes the sections of these; `::: errors` the tree of errors.
    A class leaves out the methods that are listed on their own.
    """
    places = public_names()
    template = (REFERENCE / "api.in.md").read_text("utf-8").splitlines()
    listed = [line.split()[1:] for line in template if line.startswith(":::")]
    own = {name for names in listed for name in names if "." in name}
    lines: list[str] = []
    for line in template:
        if not line.startswith(":::"):
            lines.append(line)
        elif line == "::: errors":
            lines += ["```text", (inspect.getdoc(errors) or "").partition("\n\n")[2], "```"]
        else:
            sections = [_section(name, places, own) for name in line.split()[1:]]
            if not lines[-1]:
                lines.pop()  # each section begins with an empty line
            lines += [text for section in sections for text in section]
    return "\n".join(text.rstrip() for text in "\n".join(lines).splitlines()) + "\n"


def _section(name: str, places: dict[str, str], elsewhere: set[str]) -> list[str]:
    """Return the section of a class, or of its member for `Class.member`."""
    owner, _, member = name.partition(".")
    value = getattr(import_module(places[owner]), owner)
    if member:
        return _member_lines(owner, value, member)
    return _class_lines(owner, value, places[owner], elsewhere)


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
