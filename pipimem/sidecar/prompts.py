"""The sidecar's instructions: Markdown files, the workspace's own before ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pipimem import assets
from pipimem.errors import SettingsError

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_SPLIT = re.compile(r"^---user---[ \t]*\n", re.MULTILINE)

# What a task cannot be done without. The rest (today, participants …) a prompt may leave out.
_NEEDED: Mapping[str, frozenset[str]] = {
    "consolidate": frozenset({"memory", "window"}),
    "refresh": frozenset({"session", "window"}),
    "tidy": frozenset({"memory"}),
    "fold": frozenset({"blocks"}),
    "rerank": frozenset({"query", "candidates"}),
}


class Prompts:
    """Prompts by name; `overrides` is the workspace's `prompts/` folder, which need not exist."""

    def __init__(self, overrides: Path | None = None) -> None:
        self._overrides = overrides

    def rendered(self, name: str, values: Mapping[str, str]) -> tuple[str, str]:
        """System and user part of a prompt with its placeholders filled, each value exactly as it is.

        Read afresh each time: people edit prompts while a bot runs. Raises `SettingsError` for one
        that cannot work.
        """
        text, where = self._text(name)
        _checked(text, where, _NEEDED.get(name, frozenset()), frozenset(values))
        system, user = _SPLIT.split(text, maxsplit=1)
        # One pass over the prompt alone: a value that holds "{{window}}" stays those ten characters.
        return _filled(system, values).strip(), _filled(user, values).strip()

    def _text(self, name: str) -> tuple[str, str]:
        if self._overrides is not None:
            path = self._overrides / f"{name}.md"
            if path.exists() and not path.is_file():  # a pipe would be waited for, for ever
                raise SettingsError(f"{path} is no file. Move it away, or put a file there.")
            try:
                return path.read_text(encoding="utf-8-sig"), str(path)
            except FileNotFoundError:
                pass  # most workspaces override nothing
            except (OSError, UnicodeDecodeError) as reason:
                raise SettingsError(
                    f"{path} cannot be read ({reason}); make it UTF-8 text or remove it."
                ) from reason
        return assets.prompt(name), f"prompts/{name}.md"


def _checked(text: str, where: str, needed: frozenset[str], known: frozenset[str]) -> None:
    names = frozenset(_PLACEHOLDER.findall(text))
    if unknown := sorted(names - known):
        choice = ", ".join(f"{{{{{name}}}}}" for name in sorted(known))
        raise SettingsError(
            f"{where}: the placeholder {{{{{unknown[0]}}}}} is not known; there are {choice}."
        )
    if missing := sorted(needed - names):
        raise SettingsError(
            f"{where}: the placeholder {{{{{missing[0]}}}}} is missing; the model would not see it."
        )
    if len(_SPLIT.findall(text)) != 1:
        raise SettingsError(
            f"{where}: one line ---user--- must split the instructions from what is asked."
        )


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found.group(1)], text)
