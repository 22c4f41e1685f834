"""Which sentence another one speaks of: what it corrects, moves, completes or says to be done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

from pipimem.text.characters import HAN
from pipimem.text.patterns import Pattern
from pipimem.text.talk.sentence_rules import (
    as_written,
    first_match,
    general,
    matches,
    names_a_value,
    rules,
)
from pipimem.text.talk.sentences import Sentence, letters
from pipimem.text.talk.statements import (
    bare_values,
    units_of,
    values_denied,
    values_of,
    without_values,
)
from pipimem.text.word_lists import stop_words

# How many sentences back the one may stand that another speaks of: a statement of anybody, one's
# own value, a promise, and a plan that names what is backed out of.
_NEAR, _FAR, _PROMISED, _PLAN = 3, 6, 8, 60
# ... and what a speaker takes back.
_TAKEN_BACK = {"joke": 8, "in earnest": 4, "taken back": 6}
# Messages of one speaker that follow each other so soon are one thought.
_A_MOMENT = timedelta(minutes=3)
_LEANING = (("left_out", "vague"), ("context", "continued"))
# A question of so few letters asks about the statement in front of it.
_SHORT_QUESTION = 10
_WORD, _STRETCH = re.compile(r"[A-Za-z][\w'-]{2,}"), Pattern(rf"[{HAN}]{{2,}}")


def antecedent(kept: Sequence[Sentence], one: Sentence, need: str) -> int | None:
    """The place of the sentence that one speaks of, `None` if there is none."""
    if need == "change":
        place = _last(kept, one, _FAR, _has_its_unit_too)
        if place is not None:
            return place
    if kept and need != "done" and _answers(kept[-1], one, need):
        return None
    if need in ("correction", "denial"):
        return _corrected(kept, one, need)
    if need == "fragment":
        return _first(kept, one, _own(min(_NEAR, _since_others(kept, one))))
    if need == "restriction":
        reach = max(1, _since_others(kept, one))
        return _first(kept, one, (*_own(reach), (_is_statement, reach)))
    if need == "done":
        asked = (_is_asked_of, min(_PROMISED, _since_own(kept, one)))
        return _first(kept, one, ((_is_own_promise, _PROMISED), asked))
    return _first(kept, one, _FITS.get(need, ()))


def taken_back(kept: Sequence[Sentence], one: Sentence, need: str) -> int | None:
    """The place of what a speaker takes back, or says to be a joke; `None` if it is not theirs."""
    fits = _is_statement if need == "taken back" else is_own
    place = _last(kept, one, _TAKEN_BACK[need], fits)
    return place if place is not None and is_own(kept[place], one) else None


def _corrected(kept: Sequence[Sentence], one: Sentence, need: str) -> int | None:
    """The place of what a correction speaks of: what has the value that it says is wrong.

    Where it says none, it is what shares its subject; without one, or where nobody spoke of it, the
    last message, or the speaker's own.
    """
    if values_denied(one.text):
        return _first(kept, one, ((_is_own_with_wrong_value, _PLAN), (_has_wrong_value, _FAR)))
    near = _reach_of_denial(kept, one)
    if _subject(one.text):
        return _first(kept, one, ((_is_of_its_subject, _FAR), (_has_its_value_too, near)))
    reach = near if need == "denial" else _FAR
    others = _is_statement if need == "denial" else _has_its_value
    tests = (_has_its_value_of_it, reach), (others, near)
    return _first(kept, one, (*tests, (_has_its_value_too, reach), (_is_own_statement, reach)))


def _subject(text: str) -> set[str]:
    """The words in front of the verb of a correction: "SLA" of "Correction: the SLA is 2 hours"."""
    found = first_match(rules("context")["subject"], as_written(text))
    return _words_of(found["subject"]) - general() - stop_words() if found else set()


def _first(kept: Sequence[Sentence], one: Sentence, tests: Iterable[Reach]) -> int | None:
    """The place that the first of some tests finds, each so many sentences back."""
    places = (_last(kept, one, reach, fits) for fits, reach in tests)
    return next((place for place in places if place is not None), None)


def _own(reach: int) -> tuple[Reach, ...]:
    return (_is_near, reach), (_is_own_statement, reach)


def _last(kept: Sequence[Sentence], one: Sentence, reach: int, fits: Test) -> int | None:
    """The place of the last sentence in reach, by a person, that fits and may be spoken of."""
    for place in reversed(range(max(0, len(kept) - reach), len(kept))):
        before = kept[place]
        if before.role == "user" and fits(before, one) and _may_speak_of(before, one):
            return place
    return None


def _may_speak_of(before: Sentence, one: Sentence) -> bool:
    """Whether a sentence can mean another one: of somebody else not where it tells of its speaker.

    Unless the other one names that speaker.
    """
    if is_own(before, one) or not matches("context", "of its speaker", one.text):
        return True
    return bool(one.speaker) and one.speaker in before.text


def _reach_of_denial(kept: Sequence[Sentence], one: Sentence) -> int:
    """How far back the last message of a person is; behind the bot's words only one's own."""
    said = [place for place, other in enumerate(kept) if _is_said(other)]
    if not said or (kept[-1].role != "user" and not is_own(kept[said[-1]], one)):
        return 0
    message = kept[said[-1]].sources[-1]
    return len(kept) - min(place for place in said if message in kept[place].sources)


def _since_others(kept: Sequence[Sentence], one: Sentence) -> int:
    """How many sentences at the end are one's own, or say no more than "great" or "how long?"."""
    count = 0
    for before in reversed(kept):
        is_short = letters(before.text) <= _SHORT_QUESTION
        if not is_own(before, one) and not is_short and _is_said(before):
            break
        count += 1
    return count


def _since_own(kept: Sequence[Sentence], one: Sentence) -> int:
    """How many sentences at the end come after the speaker's last one, a mere "ok" aside."""
    for count, before in enumerate(reversed(kept)):
        if is_own(before, one) and not _answers_only(before.text):
            return count
    return len(kept)


def _answers_only(text: str) -> bool:
    return any(matches("left_out", section, text) for section in ("assent", "yes", "chatter"))


def _is_said(one: Sentence) -> bool:
    return one.role == "user" and not matches("left_out", "chatter", one.text)


def _answers(last: Sentence, one: Sentence, need: str) -> bool:
    """Whether a sentence answers the question in front rather than something of before."""
    if not last.question or is_own(last, one):
        return False
    is_long = letters(last.text) > _SHORT_QUESTION
    return (need == "fragment" and is_long) or matches("left_out", "yes", one.text)


def is_own(before: Sentence, one: Sentence) -> bool:
    return before.speaker == one.speaker


def follows_at_once(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker said the one directly behind the other, within a moment."""
    if not is_own(before, one) or before.place + 1 != one.begins:
        return False
    return bool(before.when and one.when and one.when - before.when <= _A_MOMENT)


def _is_statement(before: Sentence, one: Sentence) -> bool:  # noqa: ARG001 - one of several tests
    return not before.question and not matches("left_out", "chatter", before.text)


def _is_own_statement(before: Sentence, one: Sentence) -> bool:
    return is_own(before, one) and _is_statement(before, one)


def _is_near(before: Sentence, one: Sentence) -> bool:
    is_near = before.sources[-1:] == one.sources and _is_statement(before, one)
    return is_near and not before.closed and not matches("left_out", "assent", before.text)


def _is_just_before(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker said it a moment ago, in the message in front of "it", "but" or "so"."""
    if not _is_own_statement(before, one) or before.closed:
        return False
    if matches("left_out", "assent", before.text):
        return False
    if not any(matches(*section, one.text) for section in _LEANING):
        return False
    return follows_at_once(before, one)


def _has_its_value(before: Sentence, one: Sentence) -> bool:
    """Whether a statement names a number or a day as the later one does."""
    return _is_statement(before, one) and _are_of_one_kind(before, one)


def _has_its_unit_too(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker stated or proposed so many of the same: of four tickets."""
    is_theirs = is_own(before, one) and (before.question or _is_statement(before, one))
    return is_theirs and not units_of(before.text).isdisjoint(units_of(one.text))


def _has_its_value_too(before: Sentence, one: Sentence) -> bool:
    return is_own(before, one) and _has_its_value(before, one)


def _has_its_day_too(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker told a day as the later sentence does."""
    days = _kinds_of_values(before.text) & _kinds_of_values(one.text)
    return _is_own_statement(before, one) and "day" in days


def _has_its_value_of_it(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker told a value of a thing that the later one names, too: of the train."""
    return _has_its_value_too(before, one) and bool(_words_shared(before.text, one.text))


def _has_wrong_value(before: Sentence, one: Sentence) -> bool:
    """Whether a statement has the value that the later one says is wrong: 18 of "21, not 18"."""
    return _is_statement(before, one) and bool(bare_values(before.text) & values_denied(one.text))


def _is_own_with_wrong_value(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker told that value of the same thing, or one that is hardly told twice."""
    if not is_own(before, one) or not _has_wrong_value(before, one):
        return False
    return bool(_words_shared(before.text, one.text)) or max(map(len, values_denied(one.text))) > 1


def _is_own_proposal(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker asked for the same kind of value: "Sunday at six?"."""
    return is_own(before, one) and before.question and _are_of_one_kind(before, one)


def _is_of_its_subject(before: Sentence, one: Sentence) -> bool:
    """Whether a statement shares a word with what a correction names as its subject."""
    return _is_statement(before, one) and not _subject(one.text).isdisjoint(_words_of(before.text))


def _is_own_promise(before: Sentence, one: Sentence) -> bool:
    return is_own(before, one) and matches("worth", "open_loop", before.text)


def _is_asked_of(before: Sentence, one: Sentence) -> bool:
    """Whether somebody else asks something of the later one's speaker, or of all."""
    if is_own(before, one) or matches("concrete", "person speaking", before.text):
        return False
    return one.speaker in before.text or matches("worth", "open_loop", before.text)


def _is_own_plan(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker told what they are going to do, or will have: a promise, or a value."""
    if not _is_own_statement(before, one):
        return False
    if matches("worth", "open_loop", before.text):
        return True
    return matches("concrete", "person speaking", before.text) and names_a_value(before.text)


def is_that_plan(before: Sentence, one: Sentence) -> bool:
    """Whether the speaker told a plan of a thing that the later one names, too; no mere day."""
    if not _is_own_plan(before, one):
        return False
    return bool(_words_shared(without_values(before.text), without_values(one.text)))


def _is_that_promise(before: Sentence, one: Sentence) -> bool:
    return is_that_plan(before, one) and matches("worth", "open_loop", before.text)


# Which sentences each need asks for, the best first, and how far back.
Test = Callable[[Sentence, Sentence], bool]
Reach = tuple[Test, int]
_FITS: dict[str, tuple[Reach, ...]] = {
    "change": (
        (_is_near, _NEAR),
        (_has_its_value_too, _FAR),
        (_is_own_proposal, _FAR),
        (_has_its_value, _NEAR),
        (_is_statement, _NEAR),
    ),
    "moved": ((_has_its_day_too, _FAR),),
    "backs out": ((is_that_plan, _PLAN), (_is_own_plan, _PROMISED)),
    "not done": ((_is_that_promise, _PLAN),),
    "reason": ((_is_near, 1), (_is_just_before, 1)),
    "continued": ((_is_near, 1), (_is_just_before, 1)),
    "detail": ((_is_near, 1),),
    "answer": ((_is_near, 1),),
}


def _words_of(text: str) -> set[str]:
    """Latin words in small letters, without the s of a plural, and pairs of Chinese characters."""
    words = {word.casefold().rstrip("s") for word in _WORD.findall(text)}
    for stretch in _STRETCH().findall(text):
        words.update(stretch[place : place + 2] for place in range(len(stretch) - 1))
    return words


def _words_shared(text: str, other: str) -> set[str]:
    """The words that both have, and that mean something."""
    return (_words_of(text) & _words_of(other)) - general() - stop_words()


def _are_of_one_kind(before: Sentence, one: Sentence) -> bool:
    """Whether both name a day, an hour or another number: 280 grams become no 12th of the month."""
    return not _kinds_of_values(before.text).isdisjoint(_kinds_of_values(one.text))


def _kinds_of_values(text: str) -> set[str]:
    """Of "day", "hour" and "number" what a text names; a number in letters may be any: "seven"."""
    kinds = {_kind_of_value(kind, value) for kind, value in values_of(text)}
    if kinds or not (matches("concrete", "number", text) or matches("concrete", "day", text)):
        return kinds
    return {"day", "hour", "number"}


def _kind_of_value(kind: str, value: str) -> str:
    if kind != "time":
        return "number"
    return "hour" if first_match(rules("values")["clock"], value) else "day"
