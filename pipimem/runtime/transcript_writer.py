"""Writes what was said to a channel's transcript: cleaned, a turn's messages once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.errors import PipimemError
from pipimem.notes.message import Message
from pipimem.runtime.intake import Intake
from pipimem.store.caches.channel_caches import TurnFigures
from pipimem.store.channel import ChannelStore

Write = Callable[[Sequence[Message], datetime], tuple[Message, ...]]
# A gate stores no more of a turn that is not over.
_OF_OPEN_TURNS = 200


def _said(message: Message) -> tuple[str, str]:
    return message.role, message.content


def _apart(
    messages: Iterable[Message], stored: Sequence[Message]
) -> tuple[list[Message], set[str]]:
    """The messages that are not stored yet, and the ids under which the others are."""
    fresh: list[Message] = []
    again: set[str] = set()
    for message in messages:
        same = [one for one in stored if _said(one) == _said(message) and one.id not in again]
        if same and not message.id:
            again.add(same[0].id)
        else:
            fresh.append(message)
    return fresh, again


@dataclass(slots=True)
class TranscriptWriter:
    """Stores messages once, also those that a gate stored before `after_turn` hands them in.

    With ids the transcript knows them; without, they are known here by role and text. All methods
    are for threads, one at a time.
    """

    store: ChannelStore
    intake: Intake
    # What gates stored, and when.
    _by_gates: deque[tuple[datetime, Message]] = field(
        default_factory=lambda: deque(maxlen=_OF_OPEN_TURNS)
    )
    # What the last gate stored since the last turn ended.
    _newest: tuple[Message, ...] = ()
    # Whether there was a gate since the last epoch ended.
    _had_gate: bool = False
    _figures: TurnFigures = field(default_factory=TurnFigures)
    _has_counted_session: bool = False

    def write(self, messages: Sequence[Message], now: datetime) -> tuple[Message, ...]:
        """Stores the messages, cleaned and synced, but those with known ids."""
        return self._appended(messages, self.intake.cleaned(messages, now))

    def on_the_record(self, messages: Sequence[Message]) -> list[Message]:
        """What a host hands to a gate, without what is off the record."""
        self._had_gate = True
        return self.store.off_the_record.without_marked(messages, self._known_by)

    def _known_by(self, message: Message) -> Message:
        """The message with the text and name under which it would be marked."""
        content, speaker = self.intake.cleaned_text(message.content), message.speaker
        return replace(message, content=content, speaker=self.intake.named(speaker))

    def write_at_gate(self, messages: Sequence[Message], now: datetime) -> tuple[Message, ...]:
        """Stores what a host holds and the transcript lacks; a turn may hand it in again."""
        self._newest = self._appended(messages, self.intake.cleaned(messages, now))
        self._by_gates.extend((now, message) for message in self._newest)
        return self._newest

    def leave_out(self, messages: Sequence[Message], now: datetime) -> None:
        """Marks messages that are off the record, so that no gate stores them. Stores nothing."""
        self.store.off_the_record.add(self.intake.cleaned(messages, now))

    def end_epoch(self) -> None:
        """The host dropped its context: nothing of the epoch before can come back.

        Told twice after one gate, it counts once.
        """
        if not self._had_gate:
            return
        self._had_gate = False
        with suppress(PipimemError):  # marks that stay longer do no harm
            self.store.off_the_record.end_epoch()

    def write_turn(
        self, messages: Sequence[Message], now: datetime, *, began: datetime | None
    ) -> tuple[Message, ...]:
        """Stores the messages of a turn but those that a gate stored since it `began`.

        Of a turn that began after the gate, or of which that is not known, those are left out with
        which the gate ended and the turn begins.
        """
        cleaned = self.intake.cleaned(messages, now)
        fresh, again = _apart(cleaned, self._stored(cleaned, began))
        written = self._appended(messages, fresh)
        # Only now: where the disk refuses them, the turn comes again.
        self._newest = ()
        for pair in [pair for pair in self._by_gates if pair[1].id in again]:
            self._by_gates.remove(pair)
        return written

    def begin_session(self) -> None:
        """What is hidden from now on counts for another session."""
        self._has_counted_session = False

    def taken_figures(self) -> TurnFigures:
        """What was hidden of the messages since this was last called."""
        figures, self._figures = self._figures, TurnFigures()
        return figures

    def _appended(
        self, messages: Sequence[Message], cleaned: Sequence[Message]
    ) -> tuple[Message, ...]:
        """Stores cleaned messages, and counts what was hidden of those that were new."""
        written = self.store.append(cleaned) if cleaned else ()
        self.store.hear(written)
        ids = {message.id for message in written}
        for message in messages:
            if written and (not message.id or message.id in ids):
                counts = self.intake.private_counts(message.content)
                if counts.messages:
                    session = 0 if self._has_counted_session else 1
                    self._has_counted_session = True
                    hidden = TurnFigures(private=counts, private_sessions=session)
                    self._figures = self._figures.and_then(hidden)
        return written

    def _stored(self, messages: Sequence[Message], began: datetime | None) -> Sequence[Message]:
        """What gates stored that may be of the turn with these messages."""
        if began is not None:
            since = [message for when, message in self._by_gates if when >= began]
            if since:
                return since
        said, newest = list(map(_said, messages)), list(map(_said, self._newest))
        for count in range(min(len(said), len(newest)), 0, -1):
            if newest[-count:] == said[:count]:
                return self._newest[-count:]
        return ()
