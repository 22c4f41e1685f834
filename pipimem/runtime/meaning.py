"""The embedder of a workspace: asked in threads, and given a rest, with one warning, where it does not answer."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pipimem.errors import PipimemError, SidecarError
from pipimem.recall.vectors import Vectors
from pipimem.recall.yardstick import EXAMPLES, Yardstick
from pipimem.runtime.stages import may_go_by_meaning
from pipimem.settings import Settings
from pipimem.sidecar.embedding.embedder import Embedder, Vector
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.sidecar.governor import Governor

# How long an embedder that failed is not asked again: a provider may be down, an extra may be missing for ever.
_REST_SECONDS = 300.0
# What is asked again soon costs no second embedding; 400 KB.
_QUESTIONS = 256
# The examples belong to no channel.
_NO_KEY = b""
LOCAL = "local"


class Meaning:
    """All methods but the constructor may take long, and are called in threads."""

    def __init__(self, embedder: Embedder, workspace: WorkspaceStore, *, keeps: bool = True) -> None:
        self._embedder, self._workspace, self._keeps = embedder, workspace, keeps
        self._lock = threading.Lock()
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        self._yardstick: Yardstick | None = None
        self._rests_until = 0.0
        self._has_warned = False
        self.name = embedder.name

    def question(self, text: str) -> Vector | None:
        """The vector of a question; None where the embedder does not answer."""
        with self._lock:
            if (known := self._questions.get(text)) is not None:
                return known
        found = self._asked(self._embedder.queries, [text])
        if found is None:
            return None
        with self._lock:
            self._questions[text] = found[0]
            if len(self._questions) > _QUESTIONS:
                self._questions.popitem(last=False)
        return found[0]

    def passages(self, texts: Sequence[str]) -> Sequence[Vector] | None:
        """The vectors of entries; None where the embedder does not answer."""
        return self._asked(self._embedder.passages, texts)

    def yardstick(self) -> Yardstick | None:
        """What nearness is held against, kept from one start to the next; None where the embedder does not answer."""
        if self._yardstick is None:
            known = Vectors(_NO_KEY)
            known.read(self._workspace.kept_vectors(self.name))
            found = known.rows(EXAMPLES) or self._embedded_examples()
            self._yardstick = Yardstick.of(found) if found else None
        return self._yardstick

    def _embedded_examples(self) -> Sequence[Vector] | None:
        found = self.passages(EXAMPLES)
        if found and self._keeps:
            fresh = Vectors(_NO_KEY)
            fresh.learn(EXAMPLES, found)
            with suppress(PipimemError, OSError):  # a start without them takes longer, that is all
                self._workspace.keep_vectors(self.name, fresh.written())
        return found

    @property
    def is_ready(self) -> bool:
        """Whether what a turn needs of it is at hand."""
        return self._yardstick is not None and time.monotonic() >= self._rests_until

    def _asked(
        self, embed: Callable[[Sequence[str]], Sequence[Vector]], texts: Sequence[str]
    ) -> Sequence[Vector] | None:
        if time.monotonic() < self._rests_until:
            return None
        try:
            found = embed(texts)
            if len(found) != len(texts) or not all(len(vector) for vector in found):
                raise SidecarError(f"{self.name} gave {len(found)} vectors for {len(texts)} texts.")
        except (PipimemError, OSError, ImportError) as error:
            self._rests_until = time.monotonic() + _REST_SECONDS
            if not self._has_warned:
                import logging  # 4 ms, which a start without an embedder saves

                logging.getLogger("pipimem").warning("recall goes by words alone: %s", error)
                self._has_warned = True
            return None
        return found


def meaning_of(
    settings: Settings,
    workspace: WorkspaceStore,
    governor: Callable[[], Governor],
    embedder: Embedder | None = None,
    *,
    keeps: bool = True,
) -> Meaning | None:
    """What the settings name, or the host's own `embedder`; None where there is none, or PIPIMEM_SEARCH=keyword.

    `governor` is asked for where requests cost something. Unless it `keeps`, nothing is written.
    """
    name = settings.embedder.name
    if not may_go_by_meaning() or not (name or embedder):
        return None
    if embedder is None and name == LOCAL:
        from pipimem.sidecar.embedding.local import Local  # its room only where it is asked for

        embedder = Local()
    elif embedder is None:
        from pipimem.sidecar.embedding.remote import Remote  # likewise

        embedder = Remote(name, governor().begin_in_thread)
    return Meaning(embedder, workspace, keeps=keeps)
