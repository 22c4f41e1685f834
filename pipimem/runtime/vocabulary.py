"""The words of a workspace: how its texts are cut, what words.txt says, and the mark of both."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from pipimem import __version__
from pipimem.errors import UnreadableNote
from pipimem.recall.synonyms import Synonyms, learnt
from pipimem.store.workspace import WORDS, WorkspaceStore
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words


class Vocabulary:
    """The words of a workspace, shared by its channels: how texts are cut, and what words.txt says."""

    def __init__(self, workspace: WorkspaceStore) -> None:
        self._workspace = workspace
        self._segmenter = Segmenter()
        self._synonyms: Synonyms | None = None
        self._stamp = ""
        self.words = Words(self._segmenter)

    def synonyms(self) -> Synonyms:
        """What words.txt says, read once: its words are also words for cutting Chinese."""
        if self._synonyms is None:
            text = self._text()
            self._stamp = _stamp(text)
            self._synonyms = learnt(
                text, self._segmenter, self.words
            )  # last: other threads take it for both
        return self._synonyms

    def stamp(self) -> str:
        """The mark of how texts are cut: words cut under another are of no use."""
        self.synonyms()
        return self._stamp

    def _text(self) -> str:
        try:
            return self._workspace.human_text(WORDS)
        except UnreadableNote:  # no channel falls silent for it; `doctor` tells
            return ""


def _stamp(words_txt: str) -> str:
    """The mark of all that has a say in what is indexed: our code, the libraries' files, the words of people's own."""
    told: list[object] = [__version__, words_txt]
    for name in ("pipimem.text", "pipimem.recall", "jieba", "Stemmer"):
        spec = find_spec(name)
        origin = Path(spec.origin) if spec and spec.origin else None
        if origin is None:
            continue
        files = (
            (origin,)
            if name == "Stemmer"
            else _files(origin.parent, deep=name.startswith("pipimem."))
        )
        seen = (
            (str(path), status.st_size, status.st_mtime_ns)
            for path in files
            for status in (path.stat(),)
        )
        told.append(sorted(seen))
    return blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _files(folder: Path, *, deep: bool) -> Iterator[Path]:
    """The files of a package; what Python keeps of them aside, since reading them writes it."""
    for entry in os.scandir(folder):
        if entry.is_file():
            yield Path(entry.path)
        elif deep and entry.name != "__pycache__":
            yield from _files(Path(entry.path), deep=True)
