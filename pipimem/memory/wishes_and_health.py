"""Wishes and health: whose they are, when they are shown, and which wish replaces another.

An entry under another heading that is of one of these kinds by its words counts as such when it is
shown; the file is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from msgspec import Struct, structs

from pipimem.notes.headings import kind_of, personal_kind
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Add, Decision, Move, Operation, Supersede, Target, Trust
from pipimem.recall.items import Item, said_by
from pipimem.text.characters import has_han
from pipimem.text.quotes import words_said
from pipimem.text.talk.personal import wish_subject
from pipimem.text.talk.statements import names_of, tokens_of

# Headings under which older versions kept wishes and health. What stands under Constraints binds
# everybody, whoever said it.
_OLDER_KINDS = (Kind.PREFERENCE, Kind.FACT, Kind.IDENTITY)


def kind_in_effect(text: str, heading: str | None, trust: str) -> str:
    """Return the kind as which an entry under the `heading` of a kind is shown.

    A quote binds nobody, and a heading of people's own is theirs to judge.
    """
    if heading not in _OLDER_KINDS or trust == Trust.QUOTED:
        return heading or ""
    return personal_kind(words_said(text)) or heading


def with_kinds_in_effect(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return the items of MEMORY.md, each with the kind as which it is shown."""
    found: list[Item] = []
    for item in items:
        kind = kind_in_effect(item.text, item.kind, item.trust)
        found.append(item if kind == item.kind else replace(item, kind=kind))
    return tuple(found)


class PersonalItems(Struct, frozen=True):
    """The wishes and the health of the people of a channel, the newest first.

    In a direct chat all wishes are of the person there. `standing_health` comes with every turn: in
    a direct chat all of it, in a group what says of nobody that it is theirs.
    """

    wishes: tuple[Item, ...] = ()
    health: tuple[Item, ...] = ()
    standing_health: tuple[Item, ...] = ()
    is_direct: bool = False

    def of_turn(self, speaker: str, text: str, newest: Iterable[Item] = ()) -> tuple[Item, ...]:
        """Return what opens the recalled block: the speaker's wishes, and in a group health.

        Shown is the health of those who speak or are named in the message and the `newest` before.
        """
        if self.is_direct:
            return self.wishes
        wishes = [item for item in self.wishes if _is(said_by(item), speaker)]
        before = list(newest)
        people = {speaker.casefold(), *(item.speaker.casefold() for item in before)}
        said = "\n".join((text, *(item.text for item in before))).casefold()
        health = [item for item in self.health if _is_about(item, people - {""}, said)]
        return (*wishes, *health)

    def of_each_person(self) -> list[tuple[Item, ...]]:
        """Return what opens the recalled block of each person where nobody else is named."""
        if self.is_direct:
            return [self.wishes]
        people = dict.fromkeys(said_by(item) for item in (*self.wishes, *self.health))
        return [self.of_turn(name, "") for name in people]


def personal_items(items: Iterable[Item], *, is_direct: bool) -> PersonalItems:
    """Return the wishes and the health among items that are in the order of their showing.

    A quote is shown as one: it binds nobody.
    """
    bullets = [item for item in items if item.trust != Trust.QUOTED]
    wishes = tuple(item for item in bullets if item.kind == Kind.WISH and said_by(item))
    health = [item for item in bullets if item.kind == Kind.HEALTH]
    standing = _select_standing_health(health, is_direct=is_direct)
    others = tuple(item for item in health if item not in standing)
    return PersonalItems(wishes, others, standing, is_direct)


def _select_standing_health(health: Iterable[Item], *, is_direct: bool) -> tuple[Item, ...]:
    """Return health that every turn is shown: all in a direct chat, else entries about nobody."""
    if is_direct:
        return tuple(health)
    return tuple(item for item in health if not _concerned(item))


def _is(name: str, other: str) -> bool:
    return bool(name) and name.casefold() == other.casefold()


def _is_about(item: Item, people: set[str], said: str) -> bool:
    """Return whether an entry is by one of the people, or about somebody whom the talk names."""
    if said_by(item).casefold() in people or any(_names(said, name) for name in _concerned(item)):
        return True
    # "My daughter Mia has asthma", while Mia speaks.
    words = words_said(item.text).casefold()
    return any(_names(words, name) for name in people)


def _concerned(item: Item) -> set[str]:
    """Return the names, in small letters, of who says it and of those whom it names."""
    return {said_by(item).casefold(), *names_of(f"- {words_said(item.text)}")} - {""}


def _names(text: str, name: str) -> bool:
    return name in text if has_han(name) else name in tokens_of(text)


def older_wishes(notes: Notes, text: str, speaker: str) -> list[Target]:
    """Return the wishes of a speaker on the subject of a newer wish.

    What a person typed into the file is that person's to change, and a wish whose subject is not
    known ends none.
    """
    said = words_said(text)
    subject = wish_subject(said)
    if not subject:
        return []
    found: list[Target] = []
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet else None
        if record is None or record.trust in (Trust.HUMAN, Trust.QUOTED):
            continue
        kind = kind_in_effect(entry.text, kind_of(entry.section), record.trust)
        if kind != Kind.WISH or record.speaker != speaker:
            continue
        older = words_said(entry.text)
        if older.casefold() != said.casefold() and wish_subject(older) == subject:
            found.append(entry.target)
    return found


def in_place_of_older_wishes(decision: Decision, notes: Notes) -> Decision:
    """Return a decision that adds a wish as one that replaces its speaker's older one, if any."""
    operations: list[Operation] = []
    for add in decision.operations:
        older: list[Target] = []
        if isinstance(add, Add) and add.kind is Kind.WISH and add.evidence.speaker:
            older = older_wishes(notes, add.text, add.evidence.speaker)
        if not isinstance(add, Add) or not older:
            operations.append(add)
            continue
        newer = Supersede(
            tuple(older), add.text, add.trust, add.evidence, "a newer wish", add.kind, add.expires
        )
        operations.append(structs.replace(newer, is_newer=True))
    return structs.replace(decision, operations=tuple(operations))


def moves_to_own_heading(notes: Notes) -> Iterator[Move]:
    """Yield the moves of wishes and health that older versions kept under other headings.

    What a person typed, and a quote, is moved by a person.
    """
    for entry in notes.memory.entries:
        record = notes.record(entry.id) if entry.bullet and entry.ordinal == 1 else None
        if record is None or record.trust not in (Trust.INFERRED, Trust.EXPLICIT):
            continue
        heading = kind_of(entry.section)
        kind = kind_in_effect(entry.text, heading, record.trust)
        if kind and kind != heading:
            yield Move(entry.target, Kind(kind))
