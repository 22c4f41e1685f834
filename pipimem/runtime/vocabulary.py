"""The words of a workspace: how its texts are cut, what words.txt says, and the mark of both."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from pipimem import __version__
from pipimem.errors import UnreadableNote
from pipimem.recall.synonyms import Synonyms, load_synonyms
from pipimem.store.workspace import WORDS, WorkspaceStore
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

# Code, data and libraries by which texts are cut and messages told from each other.
_DECIDING = (
    "pipimem.text",
    "pipimem.data",
    "pipimem.recall",
    "pipimem.sidecar",
    "jieba",
    "Stemmer",
)


class Vocabulary:
    """Tokenizer and synonyms of a workspace, shared by its channels."""

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
            # Last: other threads take it for both.
            self._synonyms = load_synonyms(text, self._segmenter, self.words)
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
    """A hash of all that decides tokens: code, word lists, libraries and words.txt."""
    decides = repr((_code_stamp(), words_txt))
    return blake2b(decides.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


@cache  # What was loaded cuts the words, whatever is installed over it while it runs.
def _code_stamp() -> str:
    """What decides an index beside words.txt: version, path, size and time of each file."""
    pairs: list[object] = [__version__]
    for name in _DECIDING:
        spec = find_spec(name)
        if spec is None:
            continue
        files: list[Path] = []
        for folder in spec.submodule_search_locations or ():
            files += Path(folder).rglob("*.*")
        files = files or [Path(str(spec.origin))]  # a library of one file
        # What Python keeps aside is written by reading the others.
        seen = [path for path in sorted(files) if path.parent.name != "__pycache__"]
        pairs.extend((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in seen)
    return repr(pairs)
