"""A message emptied in the transcript alone: nothing else has to forget it."""

from __future__ import annotations

from pathlib import Path

from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.forget.cleaning import clean_transcript
from pipimem.store.forget.targets import ForgetTargets
from pipimem.store.transcript.log import Transcript


def empty_message(folder: Path, transcript: Transcript, message: str) -> None:
    """Empties a message of the channel in `folder`; it keeps its place and id.

    Each file of the transcript is rewritten whole or not at all. Undo goes on as before. Raises
    `StoreError`.
    """
    targets = ForgetTargets.of((), [message])
    with transcript.lock.held():
        drop_texts(folder / ".pipimem")
        for part in transcript.parts():
            clean_transcript(part, targets)
        transcript.drop_cached()
