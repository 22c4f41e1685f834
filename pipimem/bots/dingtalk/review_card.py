"""The review card: what is remembered, one entry after the other, to keep, edit or forget."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from anyio import to_thread

from pipimem.bots.dingtalk.bot_context import Permissions
from pipimem.bots.dingtalk.incoming import CardClick
from pipimem.bots.dingtalk.replies import Wording
from pipimem.bots.dingtalk.state import OpenCard
from pipimem.errors import NothingFound, PipimemError, StoreError, UnreadableNote
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.forget_preview import speakers_of_entry
from pipimem.text.secrets import redacted

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.note_view import ListedEntry
    from pipimem.runtime.notes import Remembered
    from pipimem.runtime.pipimem import Pipimem

# Nobody goes through more on one card.
_MOST_ENTRIES = 50
_MOST_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class ReviewCards:
    """Review cards of all channels; what a click does is limited to its card's channel."""

    pipimem: Pipimem
    permissions: Permissions
    wording: Wording
    # By card, the entry of others that somebody wants forgotten, and who that is.
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    # By card, while somebody's click on it is under way.
    _clicking: WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=WeakValueDictionary, repr=False
    )

    async def started(self, channel: Channel) -> tuple[OpenCard, dict[str, str]] | None:
        """A card at the first entry with its values, the newest first; `None` without entries."""
        entries = (await channel.notes.entries())[::-1][:_MOST_ENTRIES]
        if not entries:
            return None
        card = OpenCard(channel.id, tuple(entry.id for entry in entries))
        return card, await self._values(channel, card, "")

    async def clicked(self, click: CardClick) -> dict[str, str]:
        """Do what a button says; returns the card's new values.

        A second click on a button of the same entry, or a click delivered twice, does nothing more,
        also while the first is under way. Raises `StoreError` and `UnreadableNote`.
        """
        async with self._clicking.setdefault(click.card, asyncio.Lock()):
            return await self._clicked(click)

    async def _clicked(self, click: CardClick) -> dict[str, str]:
        state = self.permissions.state
        card = state.cards.get(click.card)
        if card is None:
            return self._over(self.wording("review_over"))
        channel = await self.pipimem.channel(card.channel, create=False)
        entry = click.values.get("entry", "")
        if card.at >= len(card.entries) or entry != card.entries[card.at]:
            return await self._values(channel, card, "")
        status, goes_on = await self._done(channel, click, entry)
        if goes_on:
            card = replace(card, at=card.at + 1)
            await to_thread.run_sync(state.set_card, click.card, card)
        return await self._values(channel, card, status)

    async def _done(self, channel: Channel, click: CardClick, entry: str) -> tuple[str, bool]:
        """What became of one click, and whether the next entry is shown."""
        try:
            refused = await self._refused(channel, click, entry)
            if refused:
                return refused, False
            match click.action:
                case "keep":
                    return self._outcome(
                        await channel.notes.rate(entry, helpful=True), "review_kept"
                    )
                case "forget":
                    return self._outcome(await channel.notes.take_out(entry), "review_forgotten")
                case "edit":
                    return await self._edited(channel, click.values.get("text", ""), entry)
        except NothingFound:
            return self.wording("review_gone"), True
        except (StoreError, UnreadableNote):
            raise
        except PipimemError:
            return self.wording("review_human"), False
        return "", False

    async def _refused(self, channel: Channel, click: CardClick, entry: str) -> str:
        """Why a button does nothing: what others said changes nobody alone."""
        if click.action not in ("forget", "edit"):
            return ""
        store, ids = upkeep_of(channel).store, (click.sender,)
        names = await to_thread.run_sync(speakers_of_entry, store, entry)
        if self.permissions.may_alone(channel.kind, click.sender, ids, names):
            return ""
        if click.action == "edit":
            return self.wording("review_edit_of_others")
        asked_entry, asked_by = self._asked.get(click.card, ("", ""))
        if asked_entry == entry and self.permissions.may_confirm(click.sender, ids, asked_by):
            return ""
        self._asked[click.card] = entry, click.sender
        confirmed_by = self.permissions.settings.confirmed_by
        return self.wording(f"review_forget_by_{confirmed_by}")

    async def _edited(self, channel: Channel, text: str, entry: str) -> tuple[str, bool]:
        if not text.strip():
            return self.wording("review_edit"), False
        return self._outcome(await channel.notes.update(entry, text.strip()), "review_edited")

    def _outcome(self, done: Remembered, name: str) -> tuple[str, bool]:
        """The sentence of a name, or why nothing was changed."""
        return (done.refused[0], False) if done.refused else (self.wording(name), True)

    async def _values(self, channel: Channel, card: OpenCard, status: str) -> dict[str, str]:
        """The card's values; an entry that is gone since is passed over."""
        known = {entry.id: entry for entry in await channel.notes.entries()}
        if card.at >= len(card.entries):
            return self._over(status)
        name = card.entries[card.at]
        entry = known.get(name)
        text = redacted(entry.text)[:_MOST_CHARS] if entry else self.wording("review_gone")
        return {
            "title": self.wording("review_title"),
            "position": self.wording(
                "review_position", number=card.at + 1, count=len(card.entries)
            ),
            "entry": name,
            "text": text,
            "about": self._about(entry),
            "status": status,
            "done": "false",
        }

    def _about(self, entry: ListedEntry | None) -> str:
        if entry is None:
            return ""
        return self.wording("review_about", section=entry.section, trust=entry.trust)

    def _over(self, status: str) -> dict[str, str]:
        return {
            "title": self.wording("review_title"),
            "position": "",
            "entry": "",
            "text": self.wording("review_done"),
            "about": "",
            "status": status,
            "done": "true",
        }
