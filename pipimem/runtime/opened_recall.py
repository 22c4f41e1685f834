"""Talk and recall of channels for a command: opened once each, asked without an event loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipimem.clock import Clock
from pipimem.runtime.channel_access import ChannelAccess
from pipimem.runtime.embeddings import Embeddings, embeddings_of
from pipimem.runtime.intake import Intake
from pipimem.runtime.opened_parts import opened
from pipimem.runtime.recall_preview import RecallByHand
from pipimem.runtime.recall_service import RecallService
from pipimem.runtime.talk import ChannelTalk, TalkIndex, TalkLog
from pipimem.runtime.threads import run_alone
from pipimem.runtime.transcript_recall import Report, no_progress
from pipimem.runtime.transcript_writer import TranscriptWriter
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.settings import Settings
from pipimem.store.workspace import WorkspaceStore

if TYPE_CHECKING:
    from pipimem.llm.admission import Admission


def _uncounted(_messages: object) -> None:
    """Ignore new messages: no idle job of this process waits for them."""


@dataclass(slots=True)
class OpenedRecall:
    """The talk and the recall of a workspace's channels, by its settings.

    Recall finds at least `count` candidates; what would be injected keeps its own limit. `note` is
    told what embeds anything, `report` how far the reading of a long transcript is. Without the
    `archive` searches find messages alone.
    """

    workspace: WorkspaceStore
    settings: Settings
    note: Callable[[str], None]
    count: int | None = None
    archive: bool = True
    report: Report = no_progress
    _vocabulary: Vocabulary = field(init=False)
    _embeddings: list[Embeddings | None] = field(default_factory=list)
    _recalls: dict[str, RecallByHand] = field(default_factory=dict)
    _talks: dict[str, ChannelTalk] = field(default_factory=dict)
    _indexes: list[TalkIndex] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._vocabulary = Vocabulary(self.workspace)

    def talk(self, name: str) -> ChannelTalk:
        """Return the talk of a channel. Raises `ChannelError` for an unknown one."""
        if name not in self._talks:
            self._talks[name] = opened(self._talk, self.workspace, name, self.settings)
        return self._talks[name]

    def recall(self, name: str) -> RecallByHand:
        """Return the recall of a channel, by the embedder of the settings, too.

        What is not embedded yet is, for this command alone. Raises `ChannelError`.
        """
        if name not in self._recalls:
            self._recalls[name] = opened(self._recall, self.workspace, name, self.settings)
        return self._recalls[name]

    def keep_indexes(self) -> None:
        """Keep the indexes of the talk for the next start, where that saves it time."""
        for index in self._indexes:
            run_alone(index.keep())

    def _talk(self, access: ChannelAccess) -> ChannelTalk:
        index = TalkIndex(access, self.archive, self.report)
        self._indexes.append(index)
        settings = access.settings
        intake = Intake(settings.private, access.store.key, settings.secrets)
        log = TalkLog(access, TranscriptWriter(access.store, intake), _uncounted)
        service = self._service(access)
        return ChannelTalk(access, service, log, index)

    def _recall(self, access: ChannelAccess) -> RecallByHand:
        embeddings = self._embedder()
        service = self._service(access, embeddings)
        service.notes()
        if embeddings is not None:
            self._embed(service, embeddings)
        return RecallByHand(access, service)

    def _service(
        self, access: ChannelAccess, embeddings: Embeddings | None = None
    ) -> RecallService:
        recall = self.settings.recall
        return RecallService(
            access.store,
            self._vocabulary,
            replace(recall, candidates=max(self.count or 0, recall.candidates)),
            None,
            embeddings,
            self.settings.snapshot,
            self.settings.secrets,
        )

    def _embed(self, service: RecallService, embeddings: Embeddings) -> None:
        embeddings.baseline()
        missing = len(service.texts_without_vectors(None))
        if missing:
            self.note(
                f"embedding {missing} entries for this question alone; "
                "`pipimem maintain` keeps their vectors"
            )
        service.embed_missing(embeddings)

    def _embedder(self) -> Embeddings | None:
        """Return the embedder of the settings, made once; the vectors of queries are not kept."""
        if not self._embeddings:
            found = embeddings_of(self.settings, self.workspace, self._admission, keeps=False)
            self._embeddings.append(found)
        return self._embeddings[0]

    def _admission(self) -> Admission:
        from pipimem.llm.admission import Admission  # only where embedding costs something

        return Admission(self.workspace.usage_store, self.settings.budget, Clock(), self.note)
