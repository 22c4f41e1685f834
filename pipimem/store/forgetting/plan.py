"""What is being forgotten, as `.pipimem/forget.json` holds it until it is done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipimem.store.codec import CodecError, decoded, encoded
from pipimem.store.disk import jsonlines
from pipimem.store.disk.calls import read_whole, sync_folder, told
from pipimem.store.disk.checksums import checked_line, checked_value
from pipimem.store.disk.files import put_whole
from pipimem.store.forgetting.needles import Needles

NAME = "forget.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """The words, messages and ids of entries that go."""

    texts: tuple[str, ...]
    messages: tuple[str, ...]
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str

    @property
    def needles(self) -> Needles:
        """What is looked for."""
        return Needles(self.texts, frozenset(self.messages))


def save(own: Path, plan: Plan) -> None:
    """Writes the plan into a channel's `.pipimem/`; on the disk with its name when this returns."""
    put_whole(own / NAME, checked_line(encoded(plan)))
    # A power cut must not take the plan and leave what it began.
    sync_folder(own)


def load(own: Path) -> Plan | None:
    """The plan in a channel's `.pipimem/`, `None` where there is none, or one that is damaged.

    Carried out with one wrong byte it would take out what nobody named.
    """
    with told("read", own / NAME):
        try:
            data = read_whole(own / NAME)
        except FileNotFoundError:
            return None
    value = checked_value(data)
    if value is None:
        value = _of_format_1(data)
    try:
        plan = decoded(Plan, value)
    except CodecError:
        return None
    # Nothing is in everything.
    return plan if all(text.strip() for text in plan.texts) else None


def _of_format_1(data: bytes) -> dict[str, object] | None:
    """The plan of a forgetting that was cut off in pipimem 0.1, which wrote no checksum."""
    found = jsonlines.value(data)
    return found if found is not None and "sum" not in found else None
