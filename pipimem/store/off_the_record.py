"""Marks of messages that are off the record: known again when they come back, and never written.

`.pipimem/off_the_record.json` has a key of its own and a keyed hash of each message's id and text.
A host may keep messages over a compaction, so the marks of an epoch stay until the next one ends,
and longer where a gate meets the messages again.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import get_args

from msgspec import Struct

from pipimem.errors import StoreError
from pipimem.notes.message import Message, Role
from pipimem.store.disk import presence
from pipimem.store.disk.files import put_whole, remove
from pipimem.store.disk.syscalls import raises_store_error, read_if_there
from pipimem.store.identity import ChannelFolder
from pipimem.text import json_lines
from pipimem.text.json_codec import CodecError, decoded, encoded
from pipimem.text.patterns import Pattern

_NAME, _LOCK = "off_the_record.json", "off_the_record.lock"
_KEY_BYTES = 32
_MARK_BYTES = 16
# Hosts put a time and a name before the text: "Dana: hello", "[09:00] <Dana> hello".
_NAMED = Pattern(
    r"\s*(?:\[[^\[\]\n]{1,40}\]\s*)?(?:<(?P<tag>[^<>\n]{1,80})>|(?P<name>[^:：]{0,80})[:：])"
)
_CITED = Pattern(r"^[ \t]*[>＞][>＞ \t]*", re.MULTILINE)
# In a system message hosts write down what others said: it is known whoever said it.
_ROLES: tuple[Role, ...] = get_args(Role)
# Hosts put other paragraphs around a text. A shorter one may be anybody's.
_SHORTEST_PARAGRAPH = 20
_PARAGRAPHS, _LINES = Pattern(r"\n\s*\n"), Pattern(r"\n")
_NO_ID, _NOBODY = "without an id", "nobody"


@dataclass(frozen=True, slots=True)
class _Saved:
    """The marks, each with the number of the epoch in which it was made."""

    key: str = field(repr=False)
    epoch: int = 0
    marks: Mapping[str, int] = field(default_factory=dict)


def _as_it_is(message: Message) -> Message:
    return message


class OffTheRecord(Struct, frozen=True):
    """The marks of one channel; `_make_channel` makes it where it is not there yet."""

    _channel: ChannelFolder
    _make_channel: Callable[[], None]

    @property
    def folder(self) -> Path:
        """The channel's folder."""
        return self._channel.folder

    @property
    def _path(self) -> Path:
        return self._channel.own / _NAME

    @contextmanager
    def _marking(self, *, is_making: bool) -> Iterator[bool]:
        """Holds the lock of the marks; yields whether the channel is one of ours.

        The lock is not the channel's: a turn off the record waits for no commit.
        """
        channel = self._channel
        if is_making and (not channel.is_saved or channel.is_deleted):
            self._make_channel()
        if not channel.is_saved or channel.is_deleted:
            yield False
            return
        with channel.make_lock(channel.own / _LOCK).held():
            yield True

    @raises_store_error
    def add(self, messages: Iterable[Message]) -> None:
        """Marks messages, in a channel that is made where it is not there yet; synced."""
        with self._marking(is_making=True):
            saved = self._load() or _Saved(os.urandom(_KEY_BYTES).hex())
            marks = dict(saved.marks)
            for message in messages:
                if message.id:
                    _drop_without_id(marks, saved.key, message)
                for mark in _made(saved.key, message):
                    if mark in marks and not message.id:
                        marks[_again(saved.key, mark)] = saved.epoch
                    marks[mark] = saved.epoch
            self._save(replace(saved, marks=marks))

    @raises_store_error
    def without_marked(
        self, messages: Sequence[Message], cleaned: Callable[[Message], Message] = _as_it_is
    ) -> list[Message]:
        """The messages that have no mark, by id or by what is said; `cleaned` as when marked.

        A marked message of a user takes with it what the bot and its tools said up to the next one:
        the turn may not be over, or its host broke off. What is left out has marks of this epoch
        from now on, as the host still holds it. Raises `StoreError` where the marks cannot be read
        or written: nothing may be written then.
        """
        saved = self._load()
        if saved is None:
            return list(messages)
        kept: list[Message] = []
        met: set[str] = set()
        is_answer = False
        for message in messages:
            known = cleaned(message)
            found = saved.marks.keys() & set(_looked_for(saved.key, known))
            if message.role == "user":
                is_answer = bool(found)
            if found or (is_answer and message.role != "system"):
                met.update(found, _made(saved.key, known))
            else:
                kept.append(message)
        if met:
            self._renew(met)
        return kept

    @raises_store_error
    def end_epoch(self) -> None:
        """The host dropped its context: the marks of the epoch before this one go."""
        if not presence.exists(self._path):
            return
        with self._marking(is_making=False) as is_ours:
            saved = self._load() if is_ours else None
            if saved is None:
                return
            left = {mark: epoch for mark, epoch in saved.marks.items() if epoch == saved.epoch}
            if left:
                self._save(replace(saved, epoch=saved.epoch + 1, marks=left))
            else:
                remove(self._path)

    def _renew(self, marks: Iterable[str]) -> None:
        """Gives marks the epoch of now, and makes those that are not there."""
        with self._marking(is_making=True):
            saved = self._load()
            if saved is None:
                return
            renewed = {**saved.marks, **dict.fromkeys(marks, saved.epoch)}
            if renewed != saved.marks:
                self._save(replace(saved, marks=renewed))

    def _load(self) -> _Saved | None:
        data = read_if_there(self._path)
        if data is None:
            return None
        try:
            return decoded(_Saved, json_lines.value(data))
        except CodecError as error:
            raise StoreError(
                f"{self._path} is damaged, so what was off the record cannot be told from the "
                "rest. Begin a new session of the bot, then remove the file."
            ) from error

    def _save(self, saved: _Saved) -> None:
        put_whole(self._path, json_lines.line(encoded(saved)))


def _made(key: str, message: Message) -> Iterator[str]:
    """The marks to make of a message: of its id, and of what it says and who says it."""
    if message.id:
        yield _mark(key, f"id {message.id}")
    kind = "with an id" if message.id else _NO_ID
    for speaker, text in _said(message):
        whoever = "somebody" if speaker else _NOBODY
        yield _mark(key, f"{message.role} {kind} {whoever} {text}")
        if speaker:
            yield _mark(key, f"{message.role} {kind} by {speaker}: {text}")


def _drop_without_id(marks: dict[str, int], key: str, message: Message) -> None:
    """Drops what was marked before the id of a message was known, so no other id is taken for it.

    Where the same was marked twice, the other message still waits for its id.
    """
    for known in (message, replace(message, speaker="")):
        for mark in _made(key, replace(known, id="")):
            again = _again(key, mark)
            marks.pop(again if again in marks else mark, None)


def _again(key: str, mark: str) -> str:
    return _mark(key, f"again {mark}")


def _looked_for(key: str, message: Message) -> Iterator[str]:
    """The marks by which a message is known.

    Its id tells it from one that was marked with another id, its speaker from one of another
    speaker; where one of the two has none, what they say decides.
    """
    if message.id:
        yield _mark(key, f"id {message.id}")
    is_system = message.role == "system"
    kinds = (_NO_ID,) if message.id and not is_system else (_NO_ID, "with an id")
    roles = _ROLES if is_system else (message.role,)
    for each in _paragraphs(message):
        for speaker, text in _said(each):
            whoever = f"by {speaker}:" if speaker else "somebody"
            for role, kind in product(roles, kinds):
                yield _mark(key, f"{role} {kind} {_NOBODY} {text}")
                yield _mark(key, f"{role} {kind} {whoever} {text}")


def _said(message: Message) -> Iterator[tuple[str, str]]:
    """Who speaks and what, folded; also as the name before the text says it."""
    said = [(message.speaker, message.content)]
    named = _NAMED().match(message.content)
    if named is not None:
        said.append((named["tag"] or named["name"] or "", message.content[named.end() :]))
    for speaker, content in said:
        text = _folded(content)
        if text:
            yield _folded(speaker), text


def _paragraphs(message: Message) -> Iterator[Message]:
    """The message, and each longer paragraph of it as one of its own; of the system's each line."""
    yield message
    parts = _PARAGRAPHS().split(message.content)
    if message.role == "system":
        parts += _LINES().split(message.content)
    for text in parts:
        if _SHORTEST_PARAGRAPH <= len(text) < len(message.content):
            yield replace(message, content=text)


def _folded(text: str) -> str:
    """The text without marks of citing and what cannot be seen; case and forms do not count."""
    text = _CITED().sub("", text)
    if not text.isascii():
        normal = unicodedata.normalize("NFKC", text)
        text = "".join(each for each in normal if unicodedata.category(each) != "Cf")
    return " ".join(text.split()).casefold()


def _mark(key: str, text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_MARK_BYTES, key=key.encode()[:64]).hexdigest()
