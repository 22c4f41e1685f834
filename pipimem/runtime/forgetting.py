"""What to forget: the values that name it, what would go, and where a text still stands after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipimem.errors import (
    ArgumentError,
    DamagedState,
    NothingFound,
    PipimemError,
    require_type,
)
from pipimem.memory.requests import without_requests
from pipimem.notes.ledger import Ledger
from pipimem.notes.message import Message
from pipimem.notes.operations import Author, Decision
from pipimem.runtime.channel_access import PERSON, ChannelAccess
from pipimem.runtime.forget_preview import Forgettable, forgettable
from pipimem.runtime.note_view import ListedEntry
from pipimem.runtime.threads import finish_in_thread, run_in_thread
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.find import learnt_from
from pipimem.store.forget.forget import without_what_was_read
from pipimem.store.forget.targets import ForgetTargets
from pipimem.store.forget.traces import Trace, traces
from pipimem.store.workspace import USER_FILES, WorkspaceStore

if TYPE_CHECKING:
    from pipimem.store.forget.places import Forgotten  # loaded by a forgetting alone

__all__ = ["By", "ById", "ForgetCounts", "ForgetPreview", "Forgetter", "Text", "Trace", "Typed"]

# How the id of a message begins where ids of entries stand beside it.
_MESSAGE = "log:"


@dataclass(frozen=True, slots=True)
class Text:
    """Forget a text wherever it stands; `Tom` in `tomorrow` only with `inside_words`."""

    text: str
    inside_words: bool = False

    def __post_init__(self) -> None:
        require_type(self.text, str, "text", "Give the text to forget.")


class Typed(Text):
    """Forget what a person typed: an entry or a message if it is the id of one, else a text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class By:
    """Forget all that a person said, or what they said with a text, and what rests on it alone."""

    speaker: str
    text: str = ""
    inside_words: bool = False

    def __post_init__(self) -> None:
        require_type(self.speaker, str, "speaker", "Give a person's name.")
        require_type(self.text, str, "text", "For all that they said it is empty.")


@dataclass(frozen=True, slots=True)
class ById:
    """Forget an entry, or a message and what was learnt from it alone, by the id.

    With `inside_words` their words go also where they are a part of a longer word.
    """

    id: str
    inside_words: bool = False

    def __post_init__(self) -> None:
        require_type(self.id, str, "id", "Give the id of an entry or of a message.")


Named = By | ById | ListedEntry | Message
# In a list a bare text is an id.
What = Text | Named | Sequence[Named | str]
_HINT = "Give a Text, By or ById, an entry, a Message, or a list of ids."


@dataclass(frozen=True, slots=True)
class ForgetPreview:
    """What a `forget` would remove, as it may be shown.

    These are the texts of entries, messages, and the `speakers` whose names would go from messages
    that stay. `exact` is the same with all that stands there; `inside` is what holds the text only
    inside another word, and stays. `targets` are the text or the ids that are meant.
    """

    entries: tuple[str, ...]
    messages: tuple[str, ...]
    speakers: tuple[str, ...] = ()
    exact: Forgettable = field(default_factory=Forgettable)
    inside: Forgettable = field(default_factory=Forgettable)
    targets: tuple[str, ...] = ()


class ForgetCounts(dict[str, int]):
    """How much a `forget` removed, by kind of place; `places` has the same by file."""

    def __init__(self, counts: Mapping[str, int], places: Mapping[str, int]) -> None:
        super().__init__(counts)
        self.places: Mapping[str, int] = places


def require_target(what: object) -> None:
    """Raises `ArgumentError` unless it names something to forget."""
    # A text is a sequence too, and one of a million letters would hold the event loop.
    if isinstance(what, (str, bytes)):
        raise ArgumentError(f"what must not be a bare text. {_HINT}")
    if isinstance(what, Sequence):
        for each in what:
            require_type(each, (str, By, ById, ListedEntry, Message), "what", _HINT)
    else:
        require_type(what, (Text, By, ById, ListedEntry, Message), "what", _HINT)
    values = what if isinstance(what, Sequence) else [what]
    if not values or not all(map(_is_named, values)):
        raise ArgumentError(f"There is nothing to forget. {_HINT}")
    if len({getattr(value, "inside_words", False) for value in values}) > 1:
        raise ArgumentError("Forget what goes inside words and what does not in two calls.")


def _is_named(what: object) -> bool:
    """Return whether a value names something: its text, its speaker or its id."""
    match what:
        case Text(text):
            return bool(text)
        case By(speaker):
            return bool(speaker.strip())
    return bool(what if isinstance(what, str) else getattr(what, "id", ""))


def takes_inside_words(what: What) -> bool:
    """Return whether what is to be forgotten goes also where it is a part of a longer word."""
    values = what if isinstance(what, Sequence) else [what]
    return any(getattr(value, "inside_words", False) for value in values)


def forget_targets(store: ChannelStore, what: What) -> str | list[str]:
    """Return what `ChannelStore.forget` takes: a text, or ids of entries and messages.

    Raises `NothingFound`, also for a text that is only in a request to forget it.
    """
    require_target(what)
    if isinstance(what, Typed) and _said(store, lambda message: message.id == what.text):
        return [f"{_MESSAGE}{what.text}"]
    if isinstance(what, Text):
        _require_more_than_a_request(store, what)
        return what.text
    values = what if isinstance(what, Sequence) else [what]
    return list(dict.fromkeys(name for value in values for name in _ids_of(store, value)))


def _ids_of(store: ChannelStore, what: Text | Named | str) -> list[str]:
    """Return the ids of entries and messages that a value names. Raises `NothingFound`."""
    if isinstance(what, By):
        return _ids_of_speaker(store, what)
    name = what if isinstance(what, str) else getattr(what, "id", "")
    if not isinstance(what, Message) and _is_entry(store, name):
        return [name]
    return [f"{_MESSAGE}{_message_of(store, name).id}"]


def _is_entry(store: ChannelStore, name: str) -> bool:
    """Return whether an id is that of an entry that is in the notes."""
    if name.startswith(_MESSAGE):
        return False
    try:
        store.find_held([name], with_learnt=False)
    except NothingFound:
        return False
    return True


def _message_of(store: ChannelStore, name: str) -> Message:
    """Return the message of an id. Raises `NothingFound`."""
    wanted = name.removeprefix(_MESSAGE)
    for message in _said(store, lambda message: message.id == wanted):
        return message
    raise NothingFound(f"There is no entry and no message {name!r} here; `search` gives the ids.")


def _ids_of_speaker(store: ChannelStore, by: By) -> list[str]:
    """Return what a person said, with the text if one is given, and had remembered.

    Raises `NothingFound`.
    """
    name = by.speaker.strip().casefold()
    theirs = _said(store, lambda message: message.speaker.casefold() == name)
    # Who said nothing here may have had something remembered.
    kept = [] if by.text else _kept_for(store, name)
    if not theirs and not kept:
        raise NothingFound(f"Nobody called {by.speaker!r} said anything here.")
    if by.text:
        targets = ForgetTargets.of([by.text], inside_words=by.inside_words)
        theirs = [message for message in theirs if targets.are_in(message.content)]
    if not theirs and not kept:
        raise NothingFound(
            f"{by.speaker} said nothing with this text here. `search` shows what was said; without "
            "a speaker the words of anybody are forgotten."
        )
    return [*kept, *(f"{_MESSAGE}{message.id}" for message in theirs)]


def _kept_for(store: ChannelStore, name: str) -> list[str]:
    """Return the ids of entries that rest on no message and were remembered as a person's word."""
    notes = store.notes()
    records = ((entry, notes.record(entry.record_name)) for entry in notes.memory.entries)
    return [
        entry.ref
        for entry, record in records
        if record and not record.sources and record.speaker.casefold() == name
    ]


def _said(store: ChannelStore, is_meant: Callable[[Message], bool]) -> list[Message]:
    return list(filter(is_meant, store.transcript.messages()))


def _require_more_than_a_request(store: ChannelStore, what: Text) -> None:
    """Raise `NothingFound` where a text is only in a request to forget it.

    So it is where what is meant was said in other words: the message blanked would be the request.
    What the bot said after the request counts as little.
    """
    targets = ForgetTargets.of([what.text], inside_words=what.inside_words)
    found, _ = forgettable(store, what.text, inside_words=what.inside_words)
    asked = ""
    for message in found.messages:
        if message.role == "user" and not targets.are_in(without_requests(message.content)):
            asked = message.id
        elif not asked or message.role == "user":
            return
    if asked and not found.entries:
        raise NothingFound(
            f"Nothing was forgotten: {what.text!r} stands only in the request itself ({asked}). "
            "What is meant is said in other words: look for it with `search`, and forget it by its "
            "id."
        )


def retract_unlearnt(store: ChannelStore, name: str, now: datetime) -> bool:
    """Empty a message; return `False` where something may be learnt from it.

    That is to be forgotten. A job that read the message before learns nothing from it: its decision
    is refused. Raises `NothingFound` for an id of no message, and `StoreError`.
    """
    message = _message_of(store, name)
    if _is_learnt_from(store, message):
        return False
    store.empty_messages([message.id])
    taken_back = Decision("retract", Author.PERSON)
    store.commit(taken_back, now, PERSON, carry_out=without_what_was_read)
    return not _is_learnt_from(store, message)  # a job may have been first


def _is_learnt_from(store: ChannelStore, message: Message) -> bool:
    """Return whether anything may ever have been learnt from a message, superseded or left out."""
    notes = store.notes()
    if learnt_from(notes, [message]) or _is_left_out(store, message, notes.ledger):
        return True
    try:
        deltas = (record.delta for record in store.changes())
        records = (record for delta in deltas for record in delta.records.values() if record)
        return any(message.id in record.sources for record in records)
    except DamagedState:
        return True


def _is_left_out(store: ChannelStore, message: Message, ledger: Ledger) -> bool:
    """Return whether an item that was left out rests on a message, or may: it names none."""
    was_read = message.number <= max(ledger.cursor, ledger.refreshed)
    sources = (stored.item.sources for stored in store.left_out())
    return any(message.id in names or (was_read and not names) for names in sources)


def carry_out(
    store: ChannelStore,
    targets: str | Sequence[str],
    now: datetime,
    *,
    keep_transcript: bool = False,
    inside_words: bool = False,
    with_learnt: bool = True,
) -> Forgotten:
    """Remove what `forget_targets` returned from everything that is kept."""
    return store.forget(
        targets,
        keep_transcript=keep_transcript,
        now=now,
        actor=PERSON,
        inside_words=inside_words,
        with_learnt=with_learnt,
    )


@dataclass(slots=True, eq=False)
class Forgetter:
    """Removes something from all files of one channel for good."""

    _access: ChannelAccess

    async def forget(
        self, what: What, *, keep_transcript: bool = False, with_learnt: bool = True
    ) -> ForgetCounts:
        """Forget it, and return counts by place; raises `NothingFound` for an id of nothing."""
        require_target(what)
        access, now = self._access, self._access.clock.wall()

        def forgotten() -> ForgetCounts:
            targets = forget_targets(access.store, what)
            forgetting = partial(
                carry_out,
                access.store,
                targets,
                now,
                keep_transcript=keep_transcript,
                inside_words=takes_inside_words(what),
                with_learnt=with_learnt,
            )
            receipt = forgetting()
            if isinstance(targets, str):
                access.repeatable.append((now, forgetting))
            return ForgetCounts(receipt.counts, receipt.places)

        with access.observers.of("forget", access.id) as operation:
            async with access.forgetting:
                counts = await finish_in_thread(forgotten)
                # Recall lets go of its old index now, and not of the new one at the next turn.
                with suppress(PipimemError, OSError):
                    await finish_in_thread(access.forgotten)
            access.transcript_changed()
            operation.records = sum(counts.values())
        return counts

    async def preview(
        self, what: What, *, keep_transcript: bool = False, with_learnt: bool = True
    ) -> ForgetPreview:
        """What `forget` would remove; raises `NothingFound` like it."""
        require_target(what)
        return await run_in_thread(self._preview, what, keep_transcript, with_learnt)

    def _preview(self, what: What, keep_transcript: bool, with_learnt: bool) -> ForgetPreview:
        store, shown = self._access.store, self._access.shown
        targets = forget_targets(store, what)
        going, inside = forgettable(
            store,
            targets,
            keep_transcript=keep_transcript,
            inside_words=takes_inside_words(what),
            with_learnt=with_learnt,
        )
        return ForgetPreview(
            tuple(shown(passage.text) for passage in going.entries),
            tuple(map(self._said, going.messages)),
            tuple(sorted({shown(message.speaker) for message in going.named})),
            going,
            inside,
            (targets,) if isinstance(targets, str) else tuple(targets),
        )

    def _said(self, message: Message) -> str:
        said = self._access.shown(message.content)
        return f"{self._access.shown(message.speaker)}: {said}" if message.speaker else said

    async def retract(self, message: str) -> bool:
        """Empty a message that its sender took back on the platform; whether it is a forgetting.

        Where something may be learnt from it, it is forgotten with that.
        """
        access, now = self._access, self._access.clock.wall()
        async with access.forgetting:
            is_empty = await finish_in_thread(retract_unlearnt, access.store, message, now)
        if is_empty:
            access.transcript_changed()
        else:
            await self.forget(ById(f"{_MESSAGE}{message}"))
        return not is_empty


def remains_in(
    workspace: WorkspaceStore, name: str, text: str, *, inside_words: bool
) -> tuple[list[Trace], list[Trace]]:
    """Return where a text still stands: in our files of a channel, then in people's.

    Writes nothing. Raises `ChannelError` for an unknown one.
    """
    store = ChannelStore.open(workspace, name, create=False)
    user_files: list[Path] = [workspace.root / name for name in USER_FILES]
    ours = list(
        traces((store.folder, workspace.root / ".pipimem"), text, inside_words=inside_words)
    )
    past = Trace(store.folder / ".pipimem" / "state.db", 0)
    if past not in ours and text.strip() and store.has_in_past(text, inside_words=inside_words):
        ours.append(past)
    return ours, list(traces(user_files, text, inside_words=inside_words))
