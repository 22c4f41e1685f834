"""Intake: what may be written of a message that comes in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import Struct, field

from pipimem.errors import NothingFound
from pipimem.notes.entry import said_mark
from pipimem.notes.message import Message
from pipimem.settings import PrivateSettings, SecretSettings
from pipimem.text.fence import unfenced
from pipimem.text.private import PrivateCounts, hide_private, without_marks, without_private
from pipimem.text.secrets import redacted

# What stands in the place of what may not be written.
_MARKS = re.compile(r"\[secret:[a-z0-9 :-]{1,40}\]")
# A label and its secret: "the door code is [secret:password]", 门锁密码 [secret:password].
_NOTHING_BUT_A_SECRET = re.compile(
    rf"(?=.*\w)(?:[^,;.!?\n，；。！？\[]*+{_MARKS.pattern}|{_MARKS.pattern}[^,;.!?\n，；。！？\[]*+)"
    r"[\s#.!。！]*"
)


class Intake(Struct, frozen=True):
    """Cleans every message before it reaches the disk.

    Secrets, private stretches and blocks that memory itself injected go; what remains is timed.
    """

    private: PrivateSettings
    # Of the channel: under it a secret has the same mark whenever it comes.
    key: bytes = b""
    secrets: SecretSettings = field(default_factory=SecretSettings)

    def cleaned(self, messages: Iterable[Message], now: datetime) -> list[Message]:
        """The messages as they may be stored; one that is only an injected block is dropped."""
        found = []
        for message in messages:
            content, counts = self._content(message.content)
            if content or counts.messages or not message.content:
                speaker, session = self.named(message.speaker), self.named(message.session)
                time = message.time or now
                found.append(
                    replace(message, content=content, speaker=speaker, session=session, time=time)
                )
        return found

    def private_counts(self, text: str) -> PrivateCounts:
        """What would be hidden of a text."""
        return self._hidden(text)[1]

    def cleaned_text(self, text: str) -> str:
        """What would be kept of a text, without taking it in."""
        return self._content(text)[0]

    def named(self, name: str) -> str:
        """A name without secrets and private stretches; platforms allow anything in names."""
        return redacted(without_private(name, self.private), own=self.secrets)

    def unknown_messages(
        self, messages: Sequence[Message], logged: Iterable[Message]
    ) -> list[Message]:
        """The messages of the host that the transcript lacks, by id, or by text without an id.

        Without an id equal texts are counted, so a "yes" said twice is written twice, and written
        once more is not. Blanks around a text do not count: a host puts them between a block and
        the message, and they stay where the block is taken out.
        """
        ids: set[str] = set()
        texts: Counter[tuple[str, str]] = Counter()
        emptied: Counter[str] = Counter()
        for message in logged:
            ids.add(message.id)
            if message.emptied:
                emptied[message.emptied] += 1
                continue
            texts[message.role, message.content.strip()] += 1
        missing = []
        for message in messages:
            if message.id:
                if message.id not in ids:
                    missing.append(message)
                continue
            text = message.role, self.cleaned_text(message.content).strip()
            mark = said_mark(self.key, *text) if emptied else ""
            if texts[text] > 0:
                texts[text] -= 1
            elif emptied[mark] > 0:
                emptied[mark] -= 1  # it was forgotten, and the host holds it still
            else:
                missing.append(message)
        return missing

    def _content(self, text: str) -> tuple[str, PrivateCounts]:
        kept, counts = self._hidden(text)
        return redacted(kept, self.key, self.secrets), counts

    def _hidden(self, text: str) -> tuple[str, PrivateCounts]:
        # Injected blocks go first: a tag that a remembered line mentions hides nothing of the
        # message behind it.
        without_blocks = unfenced(text)
        kept, counts = hide_private(without_blocks, self.private)
        if kept != without_blocks:
            # Taking a stretch out may join two halves of a block's tag.
            kept = without_private(unfenced(kept), self.private)
        return kept, counts


def rememberable(text: str, speaker: str, now: datetime, intake: Intake) -> Message:
    """A text to remember word for word, and who said it, as both may be written.

    Where something private was taken out nothing stands in its place. Raises `NothingFound` where
    nothing of it may be kept.
    """
    if not text.strip():
        raise NothingFound("there is nothing to remember: the text is empty; give a sentence")
    clean = intake.cleaned([Message.user(text, speaker=speaker)], now)
    kept = without_marks(clean[0].content).strip() if clean else ""
    if _NOTHING_BUT_A_SECRET.fullmatch(kept):
        raise NothingFound(
            "there is nothing left to remember once the secret is taken out: say where it is kept "
            "or who knows it, not what it is"
        )
    if not _MARKS.sub("", kept).strip():
        raise NothingFound(
            "there is nothing left to remember once secrets and private stretches are taken out"
        )
    return replace(clean[0], content=kept)
