"""Which older statement a newer one ends: by a word of change about the same subject.

Where it is not sure, both stay: recall shows the newer first, and both have their dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.patterns import first_match, matches, rules
from pipimem.sidecar.rules.sentences import Sentence
from pipimem.text.han import HAN
from pipimem.text.quotes import read_quote, speaks_of_itself
from pipimem.text.word_lists import negations, stop_words
from pipimem.text.words.index_words import Words

# A promise is kept when so much of what it is about is said to be done, and at least so many words.
_DONE_SHARE, _DONE_WORDS = 0.4, 2
_OVERCOME = (("broken", "repaired"), ("lent", "returned"))
# What has more of them is a list or a page, of which no one word of change speaks.
_MOST_CLAUSES = 12
_CLAUSE = re.compile(
    r"[，,。；;！!：\n]|:(?!\d)|\s[-–—]+\s|(?<=\w)\.\s|\b(?:because|since|so that)\b|因为|原因"
)
# Each statement of a window is held against each other one: what is read of a text is read once.
_TEXTS_READ = 4096
# A day may be given as a date here and as a weekday there.
_TIMES = {"date": "time", "clock": "time", "weekday": "time"}
_LATIN_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Z][A-Za-z0-9.+#_-]*|\b[\w.-]+/[\w./-]+")
# What holds for several may be changed by any of them; what somebody is, likes or promised only by
# themselves.
_SHARED = (Kind.DECISION, Kind.CONSTRAINT, Kind.FACT, None)
_TOKEN = re.compile(rf"@|[A-Za-z0-9][\w./+#'’-]*|[{HAN}]+")


@dataclass(frozen=True, slots=True)
class Claim:
    """What was said, by whom (empty if unknown), and the kind it is kept as."""

    said: str
    speaker: str
    kind: Kind | None


def claim_of(text: str, kind: Kind | None) -> Claim:
    """An entry as a claim: a quote's words and speaker, or the text as it stands."""
    quote = read_quote(text)
    return Claim(quote.said, quote.name, kind)


def stated(sentence: Sentence) -> Claim:
    """A sentence as a claim of no kind."""
    return Claim(sentence.text, sentence.speaker, None)


def statements(said: Iterable[Sentence], place: int) -> list[Sentence]:
    """The sentences of people behind a place that are no questions."""
    return [one for one in said if one.place > place and one.role == "user" and not one.question]


def claims(said: Iterable[Sentence], place: int) -> list[Claim]:
    """What people state in the sentences behind a place."""
    return [stated(one) for one in statements(said, place)]


def is_over(old: Claim, later: Iterable[Claim], words: Words) -> bool:
    """Whether a later claim ends an older one, or says that what it promised is done."""
    is_promise = old.kind is Kind.OPEN_LOOP
    return any(ends(new, old, words) or (is_promise and is_done(new, old, words)) for new in later)


def ends(new: Claim, old: Claim, words: Words) -> bool:
    """Whether `new` says that `old` no longer holds.

    No number, day or name in another clause of `old` may get lost with it, unless the trouble that
    it speaks of is over, or `new` quotes it.
    """
    if new.said == old.said or not _may_end(new, old):
        return False
    if is_overcome(new.said, old.said, words):
        return True
    if not _matches("change", new.said):
        return False
    if old.said in new.said:
        return True
    old_said = old.said
    if new.speaker:
        old_said = old.said.replace(new.speaker, "我")
    is_own = new.speaker == old.speaker or old_said != old.said
    older = _clauses(old_said, words)
    if max(len(older), len(_CLAUSE.findall(new.said))) > _MOST_CLAUSES:
        return False
    return any(
        _ends_clause(new.said, clause, words, is_own=is_own) for clause in _without_loss(older)
    )


def concerns(new: Claim, old: Claim, words: Words) -> bool:
    """Whether `new` gives the subject of `old` another value, but may not say all that `old` does.

    "Party moved to the 21st" says nothing of the place in "The party is on the 14th at Leo's".
    """
    older = _clauses(old.said, words)
    found = any(_gets_new_value(one, new.said, words, wholly=False) for one in older)
    return found and _may_end(new, old)


def _without_loss(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """The clauses that can be ended without losing a number, day or name in another one."""
    exact = tuple(clause for clause in clauses if _values(clause) or _names(clause))
    if not exact:
        return clauses
    return exact if len(exact) == 1 else ()


def _ends_clause(said: str, older: str, words: Words, *, is_own: bool) -> bool:
    """Whether what was said ends a clause; only a speaker's own is turned round or left behind."""
    if _gets_new_value(older, said, words):
        return True
    return is_own and (_is_turned(older, said, words) or _is_left_behind(older, said, words))


def is_overcome(said: str, older: str, words: Words) -> bool:
    """Whether what was said to be broken is repaired, or what was borrowed is given back."""
    for trouble, end in _OVERCOME:
        if not _matches(end, said) or not _matches(trouble, older):
            continue
        troubled = [clause for clause in _clauses(older, words) if _matches(trouble, clause)]
        for clause in _clauses(said, words):
            if _matches(end, clause) and any(
                _is_same_thing(clause, end, was, trouble, words) for was in troubled
            ):
                return True
    return False


def _is_same_thing(clause: str, end: str, was: str, trouble: str, words: Words) -> bool:
    """Whether two clauses speak of one thing: its words, and the numbers that belong to it."""
    now = _matter(_without(end, clause), words)
    before = _matter(_without(trouble, was), words)
    is_part = bool(now) and now <= before and _names(clause) <= _names(was)
    return is_part and _exact(clause) == _exact(was)


def _exact(text: str) -> set[tuple[str, str]]:
    """The values of a text that are no times."""
    return {(kind, value) for kind, value in _values(text) if kind != "time"}


def is_done(told: Claim, promise: Claim, words: Words) -> bool:
    """Whether `told` says that what was promised is done, by whoever promised it."""
    is_theirs = told.speaker == promise.speaker or (told.speaker and told.speaker in promise.said)
    if promise.speaker and not is_theirs:
        return False
    if not any(_matches(section, told.said) for section in ("done", "done by oneself")):
        return False
    asked, done = _matter(promise.said, words), _matter(_without("completed", told.said), words)
    names = _names(promise.said)
    if names and not _names(told.said) <= names | {told.speaker.casefold()}:
        return False
    if _matches("done whatever", told.said):
        thing = _matter(_without("done whatever", told.said), words)
        if thing and thing <= asked:
            return True
    needed = max(1, min(_DONE_WORDS, len(asked)), _DONE_SHARE * len(asked))
    return len(asked & done) >= needed


def _may_end(new: Claim, old: Claim) -> bool:
    if Kind.LESSON in (new.kind, old.kind):
        return False
    if new.speaker == old.speaker or not old.speaker:
        return True
    personal = speaks_of_itself(new.said) or speaks_of_itself(old.said)
    return not personal and new.kind in _SHARED and old.kind in _SHARED


def _gets_new_value(older: str, said: str, words: Words, *, wholly: bool = True) -> bool:
    """Whether what was said gives what an older clause (`wholly`) is about values of its types."""
    clauses = _clauses(said, words)
    for place, clause in enumerate(clauses):
        change = first_match(rules("changes")["change"], clause)
        if change is None:
            continue
        head, tail = clause[: change.start()], clause[change.start() :]
        if not _matter(head, words) and place:
            head = f"{clauses[place - 1]} {head}"
        about = clause if wholly else f"{older} {clause}"
        if _is_about(older, head, about, words) and _is_swapped(older, head, tail):
            return True
    return False


def _is_about(older: str, head: str, clause: str, words: Words) -> bool:
    """Whether the subject in front of a word of change is all that an older clause is about."""
    subject, was = _matter(head, words), _matter(older, words)
    swapped = set[str]()
    if _names(clause):
        for name in _names(older):
            swapped.update(words.words(name))
    return bool(subject) and subject <= was and was - swapped <= subject | _matter(clause, words)


def _is_swapped(older: str, head: str, tail: str) -> bool:
    """Whether each value of an older clause is kept in `head` or has a new one in `tail`."""
    kept, old = _values(head), _values(older)
    if not kept <= old or not _names(head) <= _names(older):
        return False
    numbers = _exact(older)
    if len(numbers) > 1 and not numbers & (_exact(head) | _exact(tail)):
        return False  # gateway 1 to hall 8 says nothing of gateway 0 in hall 7
    gone = {kind for kind, _ in old - kept}
    if gone:
        return gone <= {kind for kind, _ in _values(tail)}
    return bool(_names(older) - _names(head) and _names(tail) - _names(older))


def _is_turned(older: str, said: str, words: Words) -> bool:
    """Whether a clause allows exactly what an older one forbids, or the other way round."""
    was = _matter(older, words)
    for clause in _clauses(said, words):
        about = _matter(_without("change", clause), words)
        same = about == was and bool(about) and _names(clause) <= _names(older)
        if same and _matches("forbids", clause) != _matches("forbids", older):
            return True
    return False


def _is_left_behind(older: str, said: str, words: Words) -> bool:
    """Whether a change from something is told that an older clause plainly says is so."""
    found = first_match(rules("changes")["from"], said)
    if found is None or not _matches("plain", older) or _matches("past", older):
        return False
    left, was = _matter(found["left"], words), _matter(older, words)
    return bool(left) and left <= was and not was - left - _matter(said, words)


@lru_cache(_TEXTS_READ)
def _without(section: str, clause: str) -> str:
    for rule in rules("changes")[section]:
        clause = rule.pattern.sub(" ", clause)
    return clause


@lru_cache(_TEXTS_READ)
def _matches(section: str, text: str) -> bool:
    return matches("changes", section, text)


@lru_cache(_TEXTS_READ)
def _clauses(text: str, words: Words) -> tuple[str, ...]:
    """The clauses of a text; a mere time (", 21:00") or "it's …" belongs to the one in front."""
    clauses: list[str] = []
    for part in _CLAUSE.split(text):
        if clauses and (not _matter(part, words) or _matches("carried on", part)):
            clauses[-1] += f", {part}"
        elif part.strip():
            clauses.append(part.strip())
    return tuple(clauses) or (text,)


@lru_cache(_TEXTS_READ)
def _matter(text: str, words: Words) -> frozenset[str]:
    """The words that say what a text is about: no values, no words of change, none of grammar."""
    for some in rules("values").values():
        for rule in some:
            text = rule.pattern.sub(" ", text)
    text = _without("pronoun", _without("forbids", text))
    return frozenset(word for word in _tokens(text, words) if not _is_light(word))


def _tokens(text: str, words: Words) -> Iterable[str]:
    """Words, and the single characters that the index leaves out: 不喝了 is about 喝 alone."""
    for found in _TOKEN.finditer(text):
        if found[0] == "@":
            yield "@"
        else:
            bag = words.bag(found[0])
            yield from bag.words
            if not found[0].isascii():
                yield from (gram[1:] for gram in bag.grams if len(gram) == 2)


def _is_light(word: str) -> bool:
    light = first_match(rules("changes")["light"], word)
    return word in stop_words() or word in negations() or light is not None


@lru_cache(_TEXTS_READ)
def _values(text: str) -> frozenset[tuple[str, str]]:
    """The values of a text, type and wording; the first type that fits a stretch takes it."""
    found: set[tuple[str, str]] = set()
    for kind, some in rules("values").items():
        for rule in some:
            found |= {
                (_TIMES.get(kind, kind), "".join(one[0].split()).casefold())
                for one in rule.pattern.finditer(text)
            }
            text = rule.pattern.sub("·", text)
    return frozenset(found)


@lru_cache(_TEXTS_READ)
def _names(text: str) -> frozenset[str]:
    """The names in Latin letters that a text holds, its first word and "I" aside."""
    found = (match for match in _LATIN_NAME.finditer(text) if match.start() or "/" in match[0])
    names = {match[0].casefold() for match in found} - stop_words() - {"i"}
    return frozenset(name for name in names if not _values(name))
