"""Which older statement a newer one ends: by a word of change about the same subject.

Where it is not sure, both stay: recall shows the newer first, and both have their dates.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.claims import Claim
from pipimem.sidecar.rules.promises import is_done
from pipimem.text.quotes import speaks_of_itself
from pipimem.text.talk.sentence_rules import as_written, first_match, matches, rules
from pipimem.text.talk.statements import (
    bare_values,
    clauses_of,
    dates_of,
    days_of,
    has_its_names,
    matter,
    names_of,
    numbers_of,
    parts_of,
    says,
    signs_of,
    topic,
    values_left,
    values_of,
    without,
    without_values,
    words_denied,
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


# What ends a trouble, and what ends a loan.
OVERCOME = (("broken", "repaired"), ("lent", "returned"))
_MOST_CLAUSES = 12  # what has more is a list or a page, of which no one word of change speaks
# A clause of so many words that mean something tells something of its own.
_A_STATEMENT = 3
# Two statements have one topic when they share so much of the shorter one's.
_SAME_TOPIC = 0.5
# What holds for several may be changed by any of them; what somebody is, likes or promised only by
# themselves.
_SHARED = (Kind.DECISION, Kind.CONSTRAINT, Kind.FACT, None)


def is_over(old: Claim, later: Iterable[Claim], words: Words) -> bool:
    """Whether a later claim ends an older one, or says that what it promised is done."""
    is_promise = old.kind is Kind.OPEN_LOOP
    return any(ends(new, old, words) or (is_promise and is_done(new, old, words)) for new in later)


def ends(new: Claim, old: Claim, words: Words) -> bool:
    """Whether `new` says that `old` no longer holds.

    No number, day or name in another clause of `old` may get lost with it, unless the trouble that
    it speaks of is over, or `new` quotes it.
    """
    if not _may_end(new, old):
        return False
    if is_overcome(new.said, old.said, words) or new.said.startswith(f"{old.said} …"):
        return True  # what is quoted whole, with what changes it behind
    if not says("change", new.said):
        return False
    if old.said in new.said or _is_elsewhere(old.said, new.said, words):
        return True
    old_said = old.said.replace(new.speaker, "我") if new.speaker else old.said
    is_own = new.speaker == old.speaker or old_said != old.said
    older = clauses_of(old_said, words)
    if max(len(older), len(parts_of(new.said))) > _MOST_CLAUSES:
        return False
    return any(
        _ends_clause(new.said, clause, words, is_own=is_own)
        for clause in _without_loss(older, words)
    )


def concerns(new: Claim, old: Claim, words: Words) -> bool:
    """Whether `new` gives the subject of `old` another value, but may not say all that `old` does.

    "Party moved to the 21st" says nothing of the place in "The party is on the 14th at Leo's".
    """
    if not _may_end(new, old):
        return False
    older = clauses_of(old.said, words)
    is_own = new.speaker == old.speaker
    if says("changed mind", new.said) and not (is_own and says("own plan", old.said)):
        return False
    if any(is_cancelled(one, new.said, words, is_own=is_own) for one in older):
        return True
    if _names_its_value(old.said, new.said, words, is_own=is_own):
        return True
    if is_own and old.kind is Kind.OPEN_LOOP and backs_out(new.said):
        return bool(matter(old.said, words) & matter(new.said, words))
    return says("change", new.said) and _changes(new.said, old.said, words, is_own=is_own)


def _changes(said: str, old: str, words: Words, *, is_own: bool) -> bool:
    """Whether what was said with a word of change gives something in an older statement anew."""
    older = clauses_of(old, words)
    if any(_gets_new_value(one, said, words, old) for one in older):
        return True
    if any(_ends_clause(said, one, words, is_own=is_own) for one in older):
        return True
    if not is_own:
        return False
    if _gets_new_day(old, said) or any(_is_elsewhere(one, said, words) for one in older):
        return True
    return _is_of_its_topic(older, said, words)


def _names_its_value(older: str, said: str, words: Words, *, is_own: bool) -> bool:
    """Whether a value of the older statement is said to hold no longer: "50 a head, not 65".

    Both must share a word as well, or one speaker told a value that is hardly told twice. The same
    goes for words of their own: "not pollen, it's dust mites".
    """
    left = bare_values(older) & values_left(said)
    if not left:
        return is_own and any(word in older for word in words_denied(said))
    return bool(matter(older, words) & matter(said, words)) or (is_own and max(map(len, left)) > 1)


def backs_out(said: str) -> bool:
    """Whether somebody says that they will not do something after all."""
    return matches("context", "backs out", said)


def _gets_new_day(older: str, said: str) -> bool:
    """Whether one date of an older statement is named again beside another date."""
    was, now = dates_of(older), dates_of(said)
    return bool(was & now) and bool(now - was)


def _is_of_its_topic(older: Sequence[str], said: str, words: Words) -> bool:
    """Whether both begin with one topic, and the newer gives it another value of a type.

    "Fees: 80 each" and "the fees, as we need buses as well, rise to 100". A number of the topic
    makes another one of it: gateway 1 is not gateway 0.
    """
    newer = clauses_of(said, words)
    if not numbers_of_subject(said, words) <= numbers_of(", ".join(older)):
        return False
    was, now = topic(older, words), topic(newer, words)
    shared = {word for word in was & now if not matches("concrete", "people", word)}
    if not shared or len(shared) < _SAME_TOPIC * min(len(was), len(now)):
        return False
    if not has_its_names(older[0], newer[0]) or not has_its_names(newer[0], older[0]):
        return False
    told = [place for place, clause in enumerate(newer) if says("change", clause)]
    values = values_of(", ".join(newer[told[0] :])) if told else frozenset()
    old = values_of(", ".join(older))
    return bool({kind for kind, _ in values - old} & {kind for kind, _ in old - values})


def _without_loss(clauses: tuple[str, ...], words: Words) -> tuple[str, ...]:
    """The clauses that can be ended without losing a number, day, name or statement in another."""
    exact = [clause for clause in clauses if values_of(clause) or names_of(clause)]
    telling = [clause for clause in clauses if len(matter(clause, words)) >= _A_STATEMENT]
    telling += [clause for clause in exact if clause not in telling]
    if len(telling) > 1:
        return ()
    return tuple(exact) or clauses


def _is_elsewhere(older: str, said: str, words: Words) -> bool:
    """Whether one of the two says nothing but where something is, or its name, and the other anew.

    Of one home, number, address, employer, place or name there is one at a time.
    """
    was, now = dict(only_values(older, words)), new_only_values(said, words)
    return any(subject in was and was[subject] != value for subject, value in now)


def _ends_clause(said: str, older: str, words: Words, *, is_own: bool) -> bool:
    """Whether what was said ends a clause; only a speaker's own is turned round or left behind."""
    if _gets_new_value(older, said, words):
        return True
    return is_own and (_is_turned(older, said, words) or _is_left_behind(older, said, words))


def is_overcome(said: str, older: str, words: Words) -> bool:
    """Whether what was said to be broken is repaired, or what was borrowed is given back."""
    for trouble, end in OVERCOME:
        if not says(end, said) or not says(trouble, older):
            continue
        troubled = [clause for clause in clauses_of(older, words) if says(trouble, clause)]
        for clause in clauses_of(said, words):
            if says(end, clause) and any(
                _is_same_thing(clause, end, was, trouble, words) for was in troubled
            ):
                return True
    return False


def _is_same_thing(clause: str, end: str, was: str, trouble: str, words: Words) -> bool:
    """Whether two clauses speak of one thing: its words, and the numbers that belong to it."""
    now = matter(without(end, clause), words)
    before = matter(without(trouble, was), words)
    is_part = bool(now) and now <= before and has_its_names(clause, was)
    return is_part and numbers_of(clause) == numbers_of(was)


def _may_end(new: Claim, old: Claim) -> bool:
    if Kind.LESSON in (new.kind, old.kind):
        return False
    if says("once", new.said) and says("regular", old.said) and not says("regular", new.said):
        return False
    if new.speaker == old.speaker or not old.speaker:
        return True
    personal = speaks_of_itself(new.said) or speaks_of_itself(old.said)
    return not personal and new.kind in _SHARED and old.kind in _SHARED


def _gets_new_value(older: str, said: str, words: Words, whole: str = "") -> bool:
    """Whether what was said gives what an older clause is about values of its types.

    The subject in front of the word of change must be all that the clause is about; where the
    `whole` statement is given, it may be spread over that.
    """
    was, about = matter(older, words), matter(whole or older, words)
    for head, tail, clause in changes_told(said, words):
        subject, said_of = matter(head, words), matter(clause, words)
        if whole or says("provisional", older):
            said_of |= was
        elif names_of(clause):
            said_of |= _words_of_names(older, words)
        is_about = bool(subject & was) and subject <= about and was <= subject | said_of
        if is_about and has_its_names(head, whole or older) and _is_swapped(older, head, tail):
            return True
    return False


def _words_of_names(text: str, words: Words) -> frozenset[str]:
    found = set[str]()
    for name in names_of(text):
        found.update(words.words(name))
    return frozenset(found)


def _is_swapped(older: str, head: str, tail: str) -> bool:
    """Whether each value of an older clause is kept in `head` or has a new one in `tail`."""
    kept, old = values_of(head), values_of(older)
    if not kept <= old:
        return False
    gone = {kind for kind, _ in old - kept}
    new = {kind for kind, _ in values_of(tail)}
    if says("provisional", older) and gone & new:
        return True  # "2.4 is out on Tuesday, for now" gives way to "the release moved to Friday"
    if gone:
        return gone <= new
    return bool(names_of(older) - names_of(head) and names_of(tail) - names_of(older))


def _is_turned(older: str, said: str, words: Words) -> bool:
    """Whether a clause allows exactly what an older one forbids, or the other way round."""
    was = matter(older, words)
    for clause in clauses_of(said, words):
        about = matter(without("change", clause), words)
        same = about == was and bool(about) and has_its_names(clause, older)
        same = same and numbers_of(clause) <= numbers_of(older)
        if same and says("forbids", clause) != says("forbids", older):
            return True
    return False


def _is_left_behind(older: str, said: str, words: Words) -> bool:
    """Whether a change from something is told that an older clause plainly says is so."""
    found = first_match(rules("changes")["left"], said)
    if found is None or not says("plain", older) or says("past", older):
        return False
    left, was = matter(found["left"], words), matter(older, words)
    return bool(left) and left <= was and not was - left - matter(said, words)
