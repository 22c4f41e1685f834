"""The tasks that memory gives to an assistant, and the types of their answers."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from functools import cache
from types import SimpleNamespace
from typing import Annotated, ClassVar, Literal, Protocol, TypeVar

from msgspec import Meta, Struct, field

from pipimem.errors import AnswerRefused
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust

# How much a window may leave: a guard against an answer that runs on, and no quota. In a dense talk
# every other message states a fact, and every third asks or advises something that is no fact;
# where people introduce themselves, each message states several.
_MESSAGES_A_FACT, _LEAST_LEARNED = 2, 16
_MESSAGES_A_BULLET, _LEAST_HISTORY = 3, 10


class _FieldsOfADataclass:
    """What `dataclasses.replace`, `asdict` and `fields` read of a struct, until 0.4.0.

    Tasks and answers were dataclasses in 0.2, and a host's assistant may make copies of them.
    """

    def __get__(self, struct: object, kind: type[Struct]) -> dict[str, dataclasses.Field[object]]:
        return _fields_of(kind)


@cache
def _fields_of(kind: type[Struct]) -> dict[str, dataclasses.Field[object]]:
    warnings.warn(
        f"{kind.__name__} is a msgspec struct now: use replace, asdict and fields of "
        "msgspec.structs; those of dataclasses work until 0.4.0",
        DeprecationWarning,
        stacklevel=5,  # who called `dataclasses.replace`
    )
    like = dataclasses.make_dataclass(kind.__name__, kind.__struct_fields__)
    return {field.name: field for field in dataclasses.fields(like)}


class _Struct(Struct, frozen=True):
    __dataclass_fields__: ClassVar[_FieldsOfADataclass] = _FieldsOfADataclass()
    __dataclass_params__: ClassVar[SimpleNamespace] = SimpleNamespace(repr=False)  # for `pprint`


class Call(_Struct, frozen=True):
    """The frame of one task: its channel, its correlation id, and its `timeout` in seconds."""

    channel: str
    correlation: str
    timeout: float


class KnownEntry(_Struct, frozen=True):
    """One entry of MEMORY.md as a task shows it; `age_days` is `None` where unknown.

    An open loop whose `due` day (ISO 8601) has passed, and nobody said what came of it, has
    `no_news`. What `awaits_second_voice` is a quote that another member may make a rule by saying
    the same. `said` is the day (ISO 8601) it was said, empty where unknown. Entries with the same
    `group` above 0 may say one thing.
    """

    id: str
    section: str
    text: str
    trust: Trust = Trust.HUMAN
    age_days: int | None = None
    no_news: bool = False
    awaits_second_voice: bool = False
    due: str = ""
    said: str = ""
    group: int = 0


class Consolidate(_Struct, frozen=True):
    """Transcript window → what to keep of it, and what is going on now.

    `session` is SESSION.md as it stands, `None` where no sheet is asked for. `told` are the newest
    bullets of history, and `before` the last messages in front of the window. `hidden` is the
    number of entries of MEMORY.md that `memory` does not show. `not_kept` are lines that say what
    of the last answers was left out, and why.
    """

    now: datetime
    participants: tuple[str, ...]
    memory: tuple[KnownEntry, ...]
    window: tuple[Message, ...]
    session: str | None = None
    told: tuple[str, ...] = ()
    before: tuple[Message, ...] = ()
    hidden: int = 0
    not_kept: tuple[str, ...] = ()

    @property
    def most_learned(self) -> int:
        """One fact for two messages of people, one for each who spoke, never fewer than 16."""
        return max(_LEAST_LEARNED, -(-self._people // _MESSAGES_A_FACT), len(self.participants))

    @property
    def most_history(self) -> int:
        """One bullet for three messages of people, never fewer than ten."""
        return max(_LEAST_HISTORY, -(-self._people // _MESSAGES_A_BULLET))

    @property
    def _people(self) -> int:
        return sum(message.role == "user" for message in self.window)


class Refresh(_Struct, frozen=True):
    """Transcript window and SESSION.md → what is going on now; `before` as in `Consolidate`."""

    now: datetime
    session: str
    window: tuple[Message, ...]
    before: tuple[Message, ...] = ()


class Tidy(_Struct, frozen=True):
    """MEMORY.md and the history bullets → what to merge, re-file, drop or reword."""

    now: datetime
    memory: tuple[KnownEntry, ...]
    history: tuple[str, ...]


class Fold(_Struct, frozen=True):
    """The bullets of one month's blocks, as (id, text), oldest first → one shorter block."""

    month: str
    bullets: tuple[tuple[str, str], ...]

    @property
    def most_bullets(self) -> int:
        """Half of the bullets, rounded up: a guard against a fold that saves nothing."""
        return -(-len(self.bullets) // 2)


class Rerank(_Struct, frozen=True):
    """A question and the texts recall found for it, best first → those that answer it."""

    query: str
    candidates: tuple[str, ...]


# The bounds are those of a model's answer, of the schema that it is sent, and of the prompt. They
# keep a weak model from running on until its answer is cut. An entry has room for a former value
# beside the new one. Rules and a host's assistant are not held to them.
EntryText = Annotated[str, Meta(min_length=1, max_length=300)]
LineText = Annotated[str, Meta(min_length=1, max_length=240)]
Title = Annotated[str, Meta(max_length=80)]
# An ISO day, or nothing.
Day = Annotated[str, Meta(max_length=10)]
MOST_SOURCES, MOST_HISTORY_SOURCES = 4, 8
Id = Annotated[str, Meta(min_length=1, max_length=256)]
# Recall sends 12; a host may ask for more, never for this many.
_MOST_CANDIDATES = 64


class Learned(_Struct, frozen=True, forbid_unknown_fields=True):
    """One thing worth keeping; `necessity` is `high`, `medium` or `low`.

    The speaker is the author of the first source where `speaker` is empty. `due` is the day (ISO
    8601) of an open loop. What is `concluded` was not said plainly, and is on probation. `replaces`
    are ids of entries whose value it changes. A guard sets `quote_reason`, for what may only be
    kept as somebody's words; as in `Record`.
    """

    kind: Kind
    text: EntryText
    sources: Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MOST_SOURCES)]
    speaker: Annotated[str, Meta(max_length=80)] = ""
    necessity: Literal["high", "medium", "low"] = "high"
    explicit: bool = False
    replaces: Annotated[tuple[Id, ...], Meta(max_length=4)] = ()
    quote_reason: str = ""
    due: Day = ""
    concluded: bool = False


class Outdated(_Struct, frozen=True, forbid_unknown_fields=True):
    """An entry that no longer holds."""

    id: Id
    why: Annotated[str, Meta(max_length=240)]


class HistoryItem(_Struct, frozen=True, forbid_unknown_fields=True):
    """A line of history, and the ids of what it rests on; the rules give a quote its `weight`."""

    text: LineText
    sources: Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MOST_HISTORY_SOURCES)] = ()
    weight: int = 0


class Consolidated(_Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `Consolidate`; `history` says in own words what happened.

    `sheet` has items by section of SESSION.md; others stay as they are, all of them with `None`.
    """

    learned: tuple[Learned, ...] = ()
    over: Annotated[tuple[Outdated, ...], Meta(max_length=16)] = ()
    title: Title = ""
    history: tuple[HistoryItem, ...] = ()
    sheet: Mapping[str, tuple[str, ...]] | None = None


class Refreshed(_Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `Refresh`: items by section of SESSION.md; others stay as they are."""

    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Merge(_Struct, frozen=True, forbid_unknown_fields=True):
    """Several entries that say one thing, and the one text that says it."""

    ids: Annotated[tuple[Id, ...], Meta(min_length=2, max_length=4)]
    text: EntryText


class Refile(_Struct, frozen=True, forbid_unknown_fields=True):
    """An entry that stands in the wrong section."""

    id: Id
    kind: Kind


class Reword(_Struct, frozen=True, forbid_unknown_fields=True):
    """A tighter wording of one entry, with its names, numbers and days."""

    id: Id
    text: EntryText


class Tidied(_Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `Tidy`."""

    merge: Annotated[tuple[Merge, ...], Meta(max_length=16)] = ()
    move: Annotated[tuple[Refile, ...], Meta(max_length=16)] = ()
    drop: Annotated[tuple[Outdated, ...], Meta(max_length=16)] = ()
    reword: Annotated[tuple[Reword, ...], Meta(max_length=8)] = ()


class Folded(_Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `Fold`; sources are ids of the bullets it rests on."""

    title: Annotated[Title, Meta(min_length=1)]
    bullets: Annotated[tuple[HistoryItem, ...], Meta(min_length=1)]


class Reranked(_Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to `Rerank`: places of the candidates that help, from 1, best first."""

    order: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=_MOST_CANDIDATES)], ...],
        Meta(max_length=_MOST_CANDIDATES),
    ] = ()


Task = Consolidate | Refresh | Tidy | Fold | Rerank
Answer = Consolidated | Refreshed | Tidied | Folded | Reranked
A = TypeVar("A", bound=Answer)
T = TypeVar("T")

ANSWERS: Mapping[type[Task], type[Answer]] = {
    Consolidate: Consolidated,
    Refresh: Refreshed,
    Tidy: Tidied,
    Fold: Folded,
    Rerank: Reranked,
}


class Assistant(Protocol):
    """Does tasks for the memory, in the background of the bot.

    `name` goes into the changes, `paid` says whether a task costs anything.
    """

    @property
    def name(self) -> str:
        """What goes into the changes."""

    @property
    def paid(self) -> bool:
        """Whether a task costs anything."""

    async def answer(self, task: Task, call: Call) -> Answer:
        """The answer, of the type that `ANSWERS` has for the task. Raises `SidecarError`."""


def is_exchange(window: Iterable[Message]) -> bool:
    """Whether at least two messages have words, one of them a person's."""
    roles = [message.role for message in window if message.content.strip()]
    return "user" in roles and roles.count("user") + roles.count("assistant") > 1


def is_day(text: str) -> bool:
    """Return whether a text is a day that exists, such as `2026-05-04`."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def check_order(answer: Reranked, task: Rerank) -> None:
    """Raise `AnswerRefused` for a candidate that is not there or is named twice."""
    count = len(task.candidates)
    for place in answer.order:
        if not 1 <= place <= count:
            raise AnswerRefused(f"there is no note [{place}]; the last one is [{count}]")
    if len(set(answer.order)) < len(answer.order):
        raise AnswerRefused("a note is named twice")


def task_name(task: Task) -> str:
    """The task's name in prompts, settings, scripts and the usage ledger, such as `consolidate`."""
    return type(task).__name__.lower()


async def answered(assistant: Assistant, task: Task, wanted: type[A], call: Call) -> A:
    """The assistant's answer. Raises `SidecarError`; `AnswerRefused` for one of another type."""
    answer = await assistant.answer(task, call)
    if not isinstance(answer, wanted):
        raise AnswerRefused(
            f"the assistant answered with {type(answer).__name__} instead of {wanted.__name__}"
        )
    return answer


async def in_thread(work: Callable[[], T]) -> T:
    """What `work` gives, done beside the event loop; whoever is cancelled leaves it alone."""
    from anyio import to_thread  # a cold recall needs no event loop

    return await to_thread.run_sync(work, abandon_on_cancel=True)
