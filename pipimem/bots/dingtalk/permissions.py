"""Who may change what a group remembers: everybody their own, and what others said with another."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass

from pipimem.bots.dingtalk.state import BotState
from pipimem.settings import DingTalkSettings


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the settings of a workspace and the names that were heard allow."""

    settings: DingTalkSettings
    state: BotState

    def is_admin(self, ids: Iterable[str]) -> bool:
        """Whether one of a person's ids is an admin's."""
        return not set(self.settings.admins).isdisjoint(ids)

    def may_alone(self, kind: str, sender: str, ids: Iterable[str], names: Set[str]) -> bool:
        """Whether a person needs nobody else to change what rests on the words of some names."""
        if kind == "dm" or self.settings.confirmed_by == "self" or self.is_admin(ids):
            return True
        return bool(names) and all(self.state.is_name_of(name, sender) for name in names)

    def may_record_again(self, kind: str, channel: str, sender: str, ids: Iterable[str]) -> bool:
        """Whether a person may end that a conversation is off the record: who began it may."""
        put_by = self.state.private.get(channel, "")
        is_theirs = bool(put_by) and put_by == self.state.mark(sender)
        return is_theirs or self.may_alone(kind, sender, ids, frozenset())

    def may_confirm(self, sender: str, ids: Iterable[str], asked_by: str) -> bool:
        """Whether a person may agree to what another one asked for."""
        if self.is_admin(ids):
            return True
        is_another = bool(sender) and bool(asked_by) and sender != asked_by
        return is_another and self.settings.confirmed_by == "member"
