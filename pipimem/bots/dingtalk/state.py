"""What the bot must still know after a restart: what is off the record, whose name is whose, which
cards are open.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from anyio import to_thread

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
    before it counts. People and their names stand there as marks under the `key` of the file.
    """

    path: Path
    # The channels that are off the record, each with the mark of who put it there.
    private: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[str, OpenCard] = field(default_factory=dict)
    # The mark of each name that was heard, with that of its bearer, empty where there are several.
    names: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
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
            state.private, state.cards, state.names = {}, {}, {}
        return state

    def mark(self, text: str) -> str:
        """What stands for an id or a name; empty for an empty one."""
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=16, key=self.key.encode()).hexdigest() if text else ""

    def set_private(self, channel: str, *, on: bool, sender: str = "") -> None:
        """Put a conversation off the record for a sender, or on it again. Raises `OSError`."""
        with self._changing:
            private = {name: mark for name, mark in self.private.items() if name != channel}
            if on:
                private[channel] = self.private.get(channel) or self.mark(sender)
            self._write(private, self.cards, self.names)
            self.private = private

    def knows(self, name: str, sender: str) -> bool:
        """Whether a name need not be learnt: it is this sender's already, or that of several."""
        known = self.names.get(self.mark(name))
        return not name or not sender or known in ("", self.mark(sender))

    def learn(self, name: str, sender: str) -> None:
        """Note who bears a name; of two who bear it neither is told by it. Raises `OSError`."""
        with self._changing:
            if self.knows(name, sender):
                return
            mark = self.mark(name)
            names = {**self.names, mark: "" if mark in self.names else self.mark(sender)}
            self._write(self.private, self.cards, names)
            self.names = names

    async def learnt(self, name: str, sender: str) -> None:
        """Note in a thread who bears a name, where that is new; a disk that refuses is logged."""
        if self.knows(name, sender):
            return
        try:
            await to_thread.run_sync(self.learn, name, sender)
        except OSError as error:
            _log.error("whose name it is was not noted: %s", error)

    def is_name_of(self, name: str, sender: str) -> bool:
        """Whether a name was ever heard as this sender's, and as nobody else's."""
        return bool(sender and name) and self.names.get(self.mark(name)) == self.mark(sender)

    def set_card(self, name: str, card: OpenCard) -> None:
        """Keep where a card stands; the oldest go. Raises `OSError`."""
        with self._changing:
            cards = {**self.cards, name: card}
            kept = dict(list(cards.items())[-_MOST_CARDS:])
            self._write(self.private, kept, self.names)
            self.cards = kept

    def _read(self, saved: Mapping[str, Any]) -> None:
        private, cards, names = saved["private"], saved["cards"], saved.get("names", {})
        if isinstance(private, list):  # as version 0.2 wrote it: of nobody in particular
            private = dict.fromkeys(private, "")
        if not all(isinstance(each, dict) for each in (private, cards, names)):
            raise TypeError("not as it was written")
        self.private = {str(channel): str(mark) for channel, mark in private.items()}
        self.names = {str(name): str(mark) for name, mark in names.items()}
        self.key = str(saved.get("key") or self.key)
        self.cards = {
            str(name): OpenCard(str(channel), tuple(map(str, entries)), int(at))
            for name, (channel, entries, at) in cards.items()
        }

    def _write(
        self,
        private: Mapping[str, str],
        cards: Mapping[str, OpenCard],
        names: Mapping[str, str],
    ) -> None:
        saved = {
            "key": self.key,
            "private": private,
            "names": names,
            "cards": {name: [card.channel, card.entries, card.at] for name, card in cards.items()},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{_NAME}.{os.getpid()}")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(saved, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
