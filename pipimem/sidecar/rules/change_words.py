"""What a statement tells of a change: of what it speaks, what is new, and what is cancelled."""

from __future__ import annotations

from collections.abc import Hashable

from pipimem.text.talk.sentence_rules import as_written, first_match, rules
from pipimem.text.talk.statements import (
    clauses_of,
    days_of,
    has_its_names,
    matter,
    numbers_of,
    says,
    signs_of,
    values_of,
    without,
    without_values,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.remembered import remembered

# Each statement is asked once for each other one that shares its words.
_TEXTS_READ = 4096
# What there is one of at a time: the sections of changes.txt that say it.
_ONLY_ONE = ("home", "phone", "address", "work", "place", "name")


@remembered(_TEXTS_READ)
def changes_told(said: str, words: Words) -> tuple[tuple[str, str, str], ...]:
    """Of each clause with a word of change: what stands in front of that, the rest, and the clause.

    What a clause has nothing of in front is what the clause before is about.
    """
    told: list[tuple[str, str, str]] = []
    clauses = clauses_of(said, words)
    for place, clause in enumerate(clauses):
        change = first_match(rules("changes")["change"], clause)
        if change is None:
            continue
        head, tail = clause[: change.start()], clause[change.start() :]
        if not values_of(tail) and not clause[change.end() :].strip(" .!。！"):
            head, tail = without_values(head), clause  # "she comes on Thursday now"
        moved = first_match(rules("changes")["object"], clause)
        if moved:
            head, tail = moved["object"], clause[moved.end("object") :]
        elif not matter(head, words) and place:
            head = f"{clauses[place - 1]} {head}"
        told.append((head, tail, clause))
    return tuple(told)


def numbers_of_subject(said: str, words: Words) -> frozenset[tuple[str, str]]:
    """The numbers of what gets a new value, and of the topic in front: 1 of "gateway 1 moved"."""
    topic = clauses_of(said, words)[0]
    subjects = [head for head, _, _ in changes_told(said, words)]
    return numbers_of(", ".join([*subjects, *([] if says("change", topic) else [topic])]))


def new_only_values(said: str, words: Words) -> list[tuple[Hashable, str]]:
    """The values of which there is one at a time that a text tells with a word of change."""
    newer = [clause for clause in (*clauses_of(said, words), said) if says("change", clause)]
    return [found for clause in newer for found in only_values(clause, words)]


@remembered(_TEXTS_READ)
def only_values(text: str, words: Words) -> tuple[tuple[Hashable, str], ...]:
    """The values of which there is one at a time that a text tells and nothing else, by subject."""
    found: list[tuple[Hashable, str]] = []
    for kind in _ONLY_ONE:
        told = first_match(rules("changes")[kind], as_written(text))
        parts = told.groupdict("") if told else {}
        named = parts.pop("subject", "")
        value = "".join(parts.values()).casefold().strip()
        is_time = any(of == "time" for of, _ in values_of(value))
        if told and not is_time and bool(named) == bool(matter(named, words)):
            found.append((("one", kind, matter(named, words), values_of(named)), value))
    return tuple(found)


def clauses_that_cancel(said: str, words: Words) -> list[str]:
    """The clauses that say that something does not take place, without these words.

    Of "Bo, the 20th is off" only the part that says so, if it says what.
    """
    found: list[str] = []
    for clause in clauses_of(said, words):
        for part in (*clause.split(", "), clause):
            left = without("cancelled", part) if says("cancelled", part) else ""
            if matter(left, words) or values_of(left):
                found.append(left)
                break
    return found


def is_cancelled(older: str, said: str, words: Words, *, is_own: bool) -> bool:
    """Whether what a clause is about is said not to take place, or its date by who named it."""
    for clause in clauses_that_cancel(said, words):
        subject = matter(clause, words)
        is_that = not subject or bool(subject & matter(older, words))
        if is_own and is_that and _name_one_day(clause, older):
            return True
        # A bare date of somebody else's may be that of many things.
        is_of_it = bool(subject) and signs_of(subject) <= signs_of(matter(older, words))
        if is_of_it and values_of(clause) <= values_of(older) and has_its_names(clause, older):
            return True
    return False


def _name_one_day(clause: str, older: str) -> bool:
    """Whether two texts name one day, where one may leave out its month: the 26th."""
    return any(
        day == other_day and (not month or not other_month or month == other_month)
        for month, day in days_of(clause)
        for other_month, other_day in days_of(older)
    )
