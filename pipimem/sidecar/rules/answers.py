"""Questions and their answers: which sentence answers the one in front, so that both are quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipimem.text.talk.context import together
from pipimem.text.talk.sentence_rules import first_match, matches, rules
from pipimem.text.talk.sentences import Sentence, letters
from pipimem.text.talk.statements import clauses_of, matter, signs_of
from pipimem.text.words.index_words import Words

# A question is quoted with its answer if that comes within so many sentences and is short.
_SOON = 4
_MOST_ANSWER = 80
# What a question asks for, and what of it an answer begins with; the rest of a longer clause tells
# of something else.
_VALUES = ("number", "day", "name")
_MOST_BEFORE = 12
_SHORT_CLAUSE = 20
# Who trails off says nothing: "Half past six?" "half past six…".
_TRAILING = ("…", "...")
# Fewer words than this ask for nothing that an answer could share.
_LEAST_WORDS = 2
# The verbs of one character that a short answer takes up from its question: 你住哪 and 我住在杭州.
_VERBS = frozenset("住叫姓学教吃喝穿坐买卖养玩用读写带管付交")


def answered(said: Sequence[Sentence], place: int, words: Words) -> Sentence | None:
    """A sentence with the one of somebody else that it answers or speaks of, as one quote."""
    answer = said[place]
    if answer.question or len(answer.text) > _MOST_ANSWER:
        return None
    before = _before(said, place)
    # What is quoted with something said before the question would stand behind it.
    is_older = len(answer.sources) > 1 and answer.begins == answer.place
    if before is None or (before.question and is_older):
        return None
    if _speaks_of(before, answer, words) or (before.question and _answers(before, answer, words)):
        return together(before, answer)
    return None


def agreed(said: Sequence[Sentence], place: int, words: Words) -> Sentence | None:
    """A sentence that takes up what somebody answered, with question and answer, as one quote.

    "Red or grey?" "grey" and "grey it is", which another one says than who answered.
    """
    last = said[place]
    if last.question or not matches("questions", "agreement", last.text):
        return None
    for before in reversed(range(max(1, place - _SOON), place)):
        answer = said[before]
        is_short = answer.role == "user" and letters(answer.text) <= _SHORT_CLAUSE
        if not is_short or answer.speaker == last.speaker or not _takes_up(last, answer, words):
            continue
        question = _before(said, before)
        if question is not None and question.question:
            whole = together(question, replace(answer, question=False))
            return together(whole, last) if whole else None
    return None


def _takes_up(last: Sentence, answer: Sentence, words: Words) -> bool:
    """Whether all that a short answer is about is said again: "grey" of "grey it is"."""
    about = signs_of(matter(answer.text, words))
    return bool(about) and about <= signs_of(matter(last.text, words))


def _before(said: Sequence[Sentence], place: int) -> Sentence | None:
    """The last sentence of another person before a place, or a question of the bot to this one.

    Of the bot only its last message counts: those before it speak to others. A question that the
    bot answered in between is none, nor one behind which something was said that is quoted
    elsewhere.
    """
    speaker = said[place].speaker
    asked: Sentence | None = None
    is_answered = False
    of_the_bot: tuple[str, ...] = ()
    behind = said[place]
    for one in reversed(said[max(0, place - _SOON) : place]):
        if one.place + 1 < behind.begins:
            return asked
        behind = one
        if one.role == "user":
            is_other = one.speaker != speaker and not (one.question and is_answered)
            if asked is None:
                return one if is_other else None
            return None if is_other else asked
        of_the_bot = of_the_bot or one.sources
        if one.question and asked is None and one.sources == of_the_bot:
            asked = one
        is_answered = is_answered or not one.question
    return asked


def _speaks_of(before: Sentence, after: Sentence, words: Words) -> bool:
    """Whether a sentence about "her" follows a person's statement that begins with somebody."""
    if before.question or not matches("left_out", "person", after.text):
        return False
    return matches("concrete", "people", clauses_of(before.text, words)[0])


def _answers(question: Sentence, answer: Sentence, words: Words) -> bool:
    """Whether an answer needs its question: a yes, what was asked for, or the same words."""
    if answer.text.endswith(_TRAILING) or matches("questions", "no answer", answer.text):
        return False
    kinds = _asked_for(question, answer)
    if answer.fragment and any(matches("concrete", kind, answer.text) for kind in kinds):
        return True
    if _begins_with_value(answer.text, kinds, words):
        return True
    if _VERBS.intersection(question.text) & _VERBS.intersection(answer.text):
        return True
    asked = set(words.words(question.text))
    if len(asked) < _LEAST_WORDS:
        return False
    shared = asked.intersection(words.words(answer.text))
    return bool(shared) or matches("left_out", "yes", answer.text)


def _asked_for(question: Sentence, answer: Sentence) -> tuple[str, ...]:
    """The kinds of values that a question asks for.

    Where it has no word for that, those it names, or any for an answer that means nothing alone.
    """
    asked = [kind for kind in _VALUES if matches("questions", kind, question.text)]
    if asked or matches("questions", "other", question.text):
        return tuple(asked)
    if answer.fragment:
        return _VALUES
    return tuple(kind for kind in _VALUES if matches("concrete", kind, question.text))


def _begins_with_value(text: str, kinds: Sequence[str], words: Words) -> bool:
    """Whether a short clause opens with a value of the kinds: "3.2, but ...", "at Luigi's"."""
    clause = clauses_of(text, words)[0]
    if letters(clause) > _SHORT_CLAUSE and not matches("context", "fragment", clause):
        return False
    if matches("concrete", "person speaking", clause[:_MOST_BEFORE]):
        return False
    return any(
        found is not None and not matter(clause[: found.start()], words)
        for found in (first_match(rules("concrete")[kind], clause) for kind in kinds)
    )
