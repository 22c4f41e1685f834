"""The embedder of a workspace: asked in threads, and left alone for a while where it does not answer."""

from __future__ import annotations

import threading
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
    from pipimem.runtime.background import Background
    from pipimem.sidecar.governor import Governor

# What the operator reads where it fails.
JOB = "embedder (recall goes by words alone)"
# What is asked again soon costs no second embedding; 400 KB.
_QUESTIONS = 256
# The examples belong to no channel.
_NO_KEY = b""
LOCAL = "local"


class Meaning:
    """All methods but the constructor may take long, and are called in threads."""

    def __init__(
        self,
        embedder: Embedder,
        workspace: WorkspaceStore,
        background: Background,
        *,
        keeps: bool = True,
    ) -> None:
        self._embedder, self._workspace, self._keeps = embedder, workspace, keeps
        self._background = background
        self._lock = threading.Lock()
        self._questions: OrderedDict[str, Vector] = OrderedDict()
        self._yardstick: Yardstick | None = None
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
        return self._yardstick is not None and not self._background.pause(JOB)

    def _asked(
        self, embed: Callable[[Sequence[str]], Sequence[Vector]], texts: Sequence[str]
    ) -> Sequence[Vector] | None:
        from pipimem.runtime.background import (
            Failure,  # with an event loop 25 ms, which a start without an embedder saves
        )

        if self._background.pause(JOB):
            return None
        found = self._background.attempt_in_thread(
            JOB, lambda: self._checked(embed(texts), len(texts))
        )
        if isinstance(found, Failure):
            return None
        self._background.succeeded(JOB)
        return found

    def _checked(self, found: Sequence[Vector], count: int) -> Sequence[Vector]:
        """The vectors as they came. Raises `SidecarError` unless they are `count` rows of as many finite numbers."""
        import numpy as np

        rows = np.asarray(found, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != count or not rows.shape[1] or not np.isfinite(rows).all():
            raise SidecarError(f"{self.name} gave no {count} vectors of numbers for {count} texts.")
        return found


def meaning_of(
    settings: Settings,
    workspace: WorkspaceStore,
    governor: Callable[[], Governor],
    embedder: Embedder | None = None,
    *,
    background: Background | None = None,
    keeps: bool = True,
) -> Meaning | None:
    """What the settings name, or the host's own `embedder`; None where there is none, or PIPIMEM_SEARCH=keyword.

    `governor` is asked for where requests cost something. Failures go to `background`, by default
    to one that only logs. Unless it `keeps`, nothing is written.
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
    if background is None:
        from pipimem.clock import Clock
        from pipimem.runtime.background import Background

        background = Background(Clock())
    return Meaning(embedder, workspace, background, keeps=keeps)
