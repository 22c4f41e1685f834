"""The texts that travel with pipimem: prompts, the workspace template, the thesaurus, the offline rules' patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from pipimem.private_cache import cached

_HERE = Path(__file__).parent


def _folder(name: str) -> Path:
    # In a wheel the folders lie inside the package; in a checkout beside it, where people edit them.
    installed = _HERE / "_assets" / name
    return installed if installed.is_dir() else _HERE.parent / name


def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return (_folder("prompts") / f"{name}.md").read_text(encoding="utf-8")


def thesaurus(compiled: Callable[[list[str]], str]) -> str:
    """The groups of words that mean the same, compiled for looking up.

    The wheel's build hook has put them beside the texts. In a checkout `compiled` makes them of `thesaurus_texts` once
    for each version of the texts and of the code that makes them.
    """
    try:
        # As bytes first: looking for other line ends would take thrice as long.
        return (_folder("thesaurus") / "compiled").read_bytes().decode("utf-8")
    except FileNotFoundError:
        texts = thesaurus_texts()
    code = [_HERE / "recall" / "thesaurus.py", *sorted((_HERE / "text").rglob("*.py"))]
    sources = [*(text.encode("utf-8") for text in texts), *(path.read_bytes() for path in code)]
    stamp = blake2b(b"\0".join(sources), digest_size=16).hexdigest()
    return cached("thesaurus", stamp, lambda: compiled(texts))


def thesaurus_texts() -> list[str]:
    """The same as people write them, by theme."""
    return [path.read_text(encoding="utf-8") for path in sorted(_folder("thesaurus").glob("*.txt"))]


def template() -> Iterator[tuple[str, bytes]]:
    """The files of the workspace template, as (relative path, content)."""
    root = _folder("workspace-template")
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def rules(name: str) -> str:
    """The text of `data/rules/<name>.txt`: the patterns by which the offline rules choose sentences."""
    return (_HERE / "data" / "rules" / f"{name}.txt").read_text(encoding="utf-8")
