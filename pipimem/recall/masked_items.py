"""What a workspace masks by a list of its own, masked in what older notes and messages say too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipimem.recall.items import Item
from pipimem.settings import SecretSettings
from pipimem.text.secrets import NO_LIST, redacted


def masked_items(items: Sequence[Item], own: SecretSettings) -> tuple[Item, ...]:
    """The items with nothing of the list in what they show; the known kinds go where they do."""
    if own == NO_LIST:
        return tuple(items)
    return tuple(masked_item(item, own) for item in items)


def masked_item(item: Item, own: SecretSettings) -> Item:
    """The item with nothing of the list in its text and what stands beside it."""
    text, speaker = redacted(item.text, own=own), redacted(item.speaker, own=own)
    section, head = redacted(item.section, own=own), redacted(item.head, own=own)
    return replace(item, text=text, speaker=speaker, section=section, head=head)
