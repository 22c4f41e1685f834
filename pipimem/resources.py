"""The texts in the package: prompts, workspace template, thesaurus, lists of `data/`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

_HERE = Path(__file__).parent
_HEADING = re.compile(r"\[([a-z0-9: -]+)\]")


def _folder(name: str) -> Path:
    # In a wheel the folders lie inside the package; in a checkout beside it, where people edit
    # them.
    installed = _HERE / "_assets" / name
    return installed if installed.is_dir() else _HERE.parent / name


def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return (_folder("prompts") / f"{name}.md").read_text(encoding="utf-8")


def thesaurus(compiled: Callable[[list[str]], str]) -> str:
    """The groups of words that mean the same, compiled for looking up.

    The wheel's build hook has put them beside the texts. In a checkout `compiled` makes them of
    `thesaurus_texts` once for each version of the texts and of the code that makes them, and keeps
    them in the checkout (`.cache/`); where that cannot be written, each process makes them anew.
    """
    try:
        # As bytes first: looking for other line ends would take thrice as long.
        return ((_HERE / "data" / "synonyms") / "compiled").read_bytes().decode("utf-8")
    except FileNotFoundError:
        texts = thesaurus_texts()
    code = [_HERE / "recall" / "thesaurus.py", *sorted((_HERE / "text").rglob("*.py"))]
    code += sorted((_HERE / "data" / "words").glob("*.txt"))
    sources = [*(text.encode("utf-8") for text in texts), *(path.read_bytes() for path in code)]
    kept = _HERE.parent / ".cache" / "thesaurus"
    with suppress(OSError, ValueError):
        mark, _, text = kept.read_bytes().decode("utf-8").partition("\n")
        if mark == _mark(*sources, text.encode("utf-8")):
            return text
    text = compiled(texts)
    with suppress(OSError):
        kept.parent.mkdir(exist_ok=True)
        draft = kept.with_name(f"thesaurus.{os.getpid()}")
        draft.write_text(f"{_mark(*sources, text.encode('utf-8'))}\n{text}", encoding="utf-8")
        draft.replace(kept)
    return text


def _mark(*parts: bytes) -> str:
    """The mark of what a kept text was made of, and of itself: a torn file has another."""
    return blake2b(b"\0".join(parts), digest_size=16).hexdigest()


def thesaurus_texts() -> list[str]:
    """The thesaurus as people write it: the text of each file of `data/synonyms`, by theme."""
    return [
        path.read_text(encoding="utf-8")
        for path in sorted((_HERE / "data" / "synonyms").glob("*.txt"))
    ]


def template(language: str = "en") -> Iterator[tuple[str, bytes]]:
    """The files of the workspace template in a language (`en` or `zh`), as (name, content)."""
    root = _folder("workspace-template")
    for path in sorted((root if language == "en" else root / language).iterdir()):
        if path.is_file():
            yield path.name, path.read_bytes()


def fleet_schema() -> str:
    """The statements that make the tables of a fleet: `data/fleet/schema.sql`."""
    return (_HERE / "data" / "fleet" / "schema.sql").read_text(encoding="utf-8")


def fleet_rights() -> str:
    """What the role `pipimem_bot` needs of these tables: `data/fleet/rights.sql`."""
    return (_HERE / "data" / "fleet" / "rights.sql").read_text(encoding="utf-8")


def rules(name: str) -> str:
    """The text of `data/rules/<name>.txt`: patterns of how people talk."""
    return (_HERE / "data" / "rules" / f"{name}.txt").read_text(encoding="utf-8")


@cache  # as below
def tool_texts(language: str) -> dict[str, dict[str, str]]:
    """What `data/tools/<language>.toml` says of each tool and its arguments."""
    return _tables("tools", language)


@cache  # as below
def mcp_texts(language: str) -> dict[str, dict[str, str]]:
    """What `data/mcp/<language>.toml` says of the MCP server, its resources and its prompts."""
    return _tables("mcp", language)


def _tables(folder: str, language: str) -> dict[str, dict[str, str]]:
    import tomllib  # 10 ms that only a host with tools needs

    return tomllib.loads((_HERE / "data" / folder / f"{language}.toml").read_text("utf-8"))


@cache  # as below
def bot_texts(language: str) -> dict[str, dict[str, str]]:
    """What `data/bots/<language>.toml` has a chat platform's bot say, by group and name."""
    return _tables("bots", language)


@cache  # as below
def web_texts(language: str) -> dict[str, dict[str, str]]:
    """What `data/web/<language>.toml` has the pages of the web view say, by page and name."""
    return _tables("web", language)


@cache  # as below
def web_sentences(language: str) -> dict[str, dict[str, str]]:
    """What `data/web/sentences-<language>.toml` makes of English sentences; none for English."""
    return {} if language == "en" else _tables("web", f"sentences-{language}")


def web_folder(name: str) -> Path:
    """The folder `templates` or `static` of the web view."""
    return _HERE / "data" / "web" / name


@cache  # they travel with the package and do not change while it runs
def sections(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of `data/<name>.txt` by `[heading]`, "" for those above; `# ` is a comment."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (_HERE / "data" / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        headed = _HEADING.fullmatch(line)
        if headed is not None:
            heading = headed[1]
        elif line and line != "#" and not line.startswith("# "):
            found.setdefault(heading, []).append(line)
    return {heading: tuple(lines) for heading, lines in found.items()}
