"""Messages that an import added to a transcript, taken out of it again."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from pipimem.store.caches.channel_caches import drop_texts
from pipimem.store.disk import appended_files
from pipimem.store.disk.files import put_whole
from pipimem.store.transcript.log import Transcript
from pipimem.store.transcript.message_line import parsed


def drop_messages(folder: Path, transcript: Transcript, numbers: Container[int]) -> int:
    """Rewrites each file of the transcript without the messages of some numbers.

    Each file is rewritten whole or not at all. The numbers are not given again: the ledger keeps
    the greatest. Returns how many messages went. Raises `StoreError`.
    """
    dropped = 0
    with transcript.lock.held():
        drop_texts(folder / ".pipimem")
        for part in transcript.parts():
            kept = [data for data in appended_files.lines(part) if not _is_one_of(data, numbers)]
            before = sum(1 for _ in appended_files.lines(part))
            if len(kept) < before:
                put_whole(part, b"".join(kept))
                dropped += before - len(kept)
        transcript.drop_cached()
    return dropped


def _is_one_of(data: bytes, numbers: Container[int]) -> bool:
    message = parsed(data)
    return message is not None and message.number in numbers
