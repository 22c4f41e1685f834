"""What the bot must still know after a restart: who is off the record, and which cards are open."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_NAME = "dingtalk.json"
# Older cards are over: nobody scrolls back so far.
_MOST_CARDS = 500

_log = logging.getLogger("pipimem.dingtalk")


@dataclass(frozen=True, slots=True)
class OpenCard:
    """A review card: its channel, the entries it goes through, and the place of the shown one."""

    channel: str
    entries: tuple[str, ...]
    at: int = 0


@dataclass(slots=True)
class BotState:
    """`.pipimem/dingtalk.json` of a workspace: ids alone, nothing that anybody said.

    One process has one, and changes it in any thread; each change is written whole and synced
    before it counts.
    """

    path: Path
    private: frozenset[str] = frozenset()
    cards: Mapping[str, OpenCard] = field(default_factory=dict)
    # Held from the reading of what there is until all of it is written.
    _changing: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def load(cls, workspace: Path) -> BotState:
        """The state as it was left; a damaged file is set aside, and the operator told."""
        state = cls(workspace / ".pipimem" / _NAME)
        try:
            state._read(json.loads(state.path.read_bytes()))
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError, RecursionError):
            aside = state.path.with_suffix(".damaged")
            state.path.replace(aside)
            _log.error(
                "%s was damaged and is now %s: conversations that were off the record are on the "
                "record again until somebody says /private on.",
                state.path,
                aside.name,
            )
            state.private, state.cards = frozenset(), {}
        return state

    def set_private(self, channel: str, *, on: bool) -> None:
        """Put a conversation off the record, or on it again. Raises `OSError`."""
        with self._changing:
            private = self.private | {channel} if on else self.private - {channel}
            self._write(private, self.cards)
            self.private = private

    def set_card(self, name: str, card: OpenCard) -> None:
        """Keep where a card stands; the oldest go. Raises `OSError`."""
        with self._changing:
            cards = {**self.cards, name: card}
            kept = dict(list(cards.items())[-_MOST_CARDS:])
            self._write(self.private, kept)
            self.cards = kept

    def _read(self, saved: Mapping[str, object]) -> None:
        private, cards = saved["private"], saved["cards"]
        if not isinstance(private, list) or not isinstance(cards, dict):
            raise TypeError("not as it was written")
        self.private = frozenset(map(str, private))
        self.cards = {
            str(name): OpenCard(str(channel), tuple(map(str, entries)), int(at))
            for name, (channel, entries, at) in cards.items()
        }

    def _write(self, private: frozenset[str], cards: Mapping[str, OpenCard]) -> None:
        saved = {
            "private": sorted(private),
            "cards": {name: [card.channel, card.entries, card.at] for name, card in cards.items()},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{_NAME}.{os.getpid()}")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(saved, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
