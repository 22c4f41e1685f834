"""The sentences worth keeping: of what kind they are, and how much they weigh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pipimem.notes.headings import personal_kind
from pipimem.notes.kinds import Kind
from pipimem.sidecar.rules.claims import Claim
from pipimem.text.talk.asking import asks_of_the_bot
from pipimem.text.talk.context import together
from pipimem.text.talk.personal import health_statement, names_health
from pipimem.text.talk.sentence_rules import (
    first_match,
    first_section,
    general,
    matches,
    rules,
    without_quotes,
)
from pipimem.text.talk.sentences import Sentence, letters, without_tail
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
_LEAST_ANSWER_WORDS = 2
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
    # "I'm allergic to peanuts, can we skip the satay?" is said by who asks.
    if health_statement(before.text):
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
    if len(asked) < _LEAST_ANSWER_WORDS:
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


# A sentence of a kind, by its words: sure, or only where something concrete stands beside it.
_SURE, _FAINT = 3.0, 1.5
# What does most harm when it is forgotten comes first where room is short.
_WORTH_MORE = {
    Kind.WISH: 1.8,
    Kind.HEALTH: 1.8,
    Kind.CONSTRAINT: 1.8,
    Kind.DECISION: 1.5,
    Kind.LESSON: 1.5,
    Kind.PREFERENCE: 0.5,
    Kind.IDENTITY: 0.5,
}
_CONCRETE = {
    "number": 0.8,
    "day": 0.8,
    "name": 0.8,
    "people": 0.5,
    "person speaking": 0.8,
    "vital": 1.5,
    "sum": 1.0,
}
# "Migraines, with aura": a note to oneself that does not say whose they are.
_NAMES_HEALTH = 1.5
_CHANGES = {"change": 1.0, "done": 0.8, "repaired": 0.8}
_EMPTY = {"chatter": 1.8, "weather": 2.5, "joking": 1.0, "hyperbole": 2.5}
_LIGHTER = {"tentative": 1.5, "conditional": 1.0, "you": 1.0, "vague": 1.5, "points": 0.8}
# What nothing else is said in than a word or two is no sentence one understands next month.
_LEAST_WORDS, _FEW_WORDS, _NO_WORDS = 2, 1.0, 4.0
# A fact or a deed in fewer letters says too little; Chinese ones count thrice.
_NEED_MORE, _SHORT, _TOO_SHORT = (Kind.FACT, Kind.ONGOING), 20, 0.8
_MOST_SPECIFIC, _SPECIFIC = 5, 0.35
# What a sentence must weigh to be kept; what somebody asked for weighs more than anything.
_WORTH = 2.8
# Among many, what says little is a quip more often than a fact: there each of its words counts for
# more, and against more, and a fact, a deed or a promise must have more letters.
_AMONG_MANY, _SPECIFIC_THERE = 3.7, 0.25
_NEED_MORE_THERE, _SHORT_THERE = (Kind.FACT, Kind.ONGOING, Kind.OPEN_LOOP), 36
ASKED = 10.0
# A sentence is never cut: a longer one is a page, or a text somebody pasted.
_LONGEST = 320
# A sentence that stands with what it answers weighs more.
_ANSWERED = 1.4
# The marks around a question are ours: they make no name.
_MARKS = re.compile("^[“「]|[”」]")
# More than one entry for so many messages of people would be a transcript.
_MESSAGES_AN_ENTRY, _LEAST_ENTRIES = 2, 4
_LATER = 0.6


class Choice(Struct, frozen=True):
    """A sentence that is worth keeping: its kind, its weight, and what it weighs among many."""

    sentence: Sentence
    kind: Kind
    weight: float
    among_many: float = ASKED

    @property
    def quote(self) -> str:
        """As it is written down."""
        return self.sentence.quote()

    @property
    def claim(self) -> Claim:
        """What it says, by whom, for comparing."""
        return Claim(without_tail(self.sentence.text), self.sentence.speaker, self.kind)


def weighed(sentence: Sentence, words: Words) -> Choice | None:
    """A sentence with its kind and weight; `None` for questions, requests and imagined things."""
    text = without_tail(sentence.text if sentence.answers else without_quotes(sentence.text))
    if len(text) > _LONGEST and not sentence.asked:
        return None
    if sentence.question or asks_of_the_bot(text) or matches("left_out", "imagined", text):
        return None
    kind, weight = _kind(text)
    if _introduces_itself(sentence):
        kind, weight = Kind.IDENTITY, _SURE + _WORTH_MORE[Kind.IDENTITY]
    said = _MARKS.sub("", text) if sentence.answers else sentence.text
    weight += _sum("concrete", _CONCRETE, said) + _sum("changes", _CHANGES, text)
    weight += _NAMES_HEALTH if names_health(said) else 0.0
    weight -= _sum("left_out", _EMPTY, text) + _sum("left_out", _LIGHTER, text)
    specific = len(_specific(text, words))
    weight += min(specific, _MOST_SPECIFIC) * _SPECIFIC
    if kind in _NEED_MORE and letters(text) < _SHORT:
        weight -= _TOO_SHORT
    if specific < _LEAST_WORDS:
        weight -= _FEW_WORDS if specific else _NO_WORDS
    weight += ASKED if sentence.asked else 0.0
    among_many = weight + min(specific, _MOST_SPECIFIC) * _SPECIFIC_THERE
    if kind in _NEED_MORE_THERE and letters(text) < _SHORT_THERE:
        among_many -= _TOO_SHORT
    return Choice(sentence, kind, weight, among_many)


def _introduces_itself(sentence: Sentence) -> bool:
    """Whether a speaker begins with their own name: "Tom here, stage manager."."""
    name, said = re.escape(sentence.speaker), sentence.text
    if re.match(rf"{name} here[,.] ?\S", said):
        return bool(name)
    # "Bea, costumes and props": a few words without a verb, and nobody else's name.
    role = re.match(rf"{name}, (?:the |our )?((?:[a-z]+ ){{0,4}}[a-z]+)[.!]?$", said)
    return bool(name and role) and not matches("worth", "fact faint", said)


def weight_of(sentence: Sentence, words: Words) -> float:
    """The weight of a sentence, -9 for one that is never worth keeping."""
    choice = weighed(sentence, words)
    return choice.weight if choice else -9.0


def _personal(sentence: Sentence) -> Choice | None:
    """Return a wish or what a sentence says of a person's health; laughter makes neither certain.

    Of a question about something else only its statement is quoted.
    """
    kind = personal_kind(sentence.text, in_question=sentence.question)
    if kind is None or sentence.fragment:
        return None
    weight = _SURE + _WORTH_MORE[kind]
    if kind is Kind.WISH:
        return None if sentence.laughed else Choice(_as_asked(sentence), kind, weight + ASKED)
    asks = sentence.question or without_tail(sentence.text) != sentence.text
    text = health_statement(sentence.text) if asks else sentence.text
    stated = replace(sentence, text=text, question=False)
    return Choice(stated, kind, weight + (ASKED if sentence.asked else 0.0))


def _as_asked(sentence: Sentence) -> Sentence:
    return replace(sentence, asked=True, question=False)


def choices(said: Sequence[Sentence], words: Words) -> list[Choice]:
    """All that is worth keeping of a window's sentences, in their order."""
    found: list[Choice] = []
    for place, sentence in enumerate(said):
        if sentence.role != "user":
            continue
        personal = _personal(sentence)
        if personal is not None:
            whole = answered(said, place, words) if personal.kind is Kind.HEALTH else None
            found.append(replace(personal, sentence=whole) if whole else personal)
            continue
        if sentence.laughed and not sentence.asked:
            continue
        choice = None if sentence.fragment else weighed(sentence, words)
        whole = answered(said, place, words)
        if whole is not None:
            choice = _answer(choice, whole, sentence.text)
        settled = agreed(said, place, words)
        if settled is not None:
            choice = Choice(settled, Kind.DECISION, _SURE + _WORTH_MORE[Kind.DECISION])
            found = [one for one in found if one.sentence.sources != settled.sources[:-1]]
        if choice and (choice.weight >= _WORTH or choice.among_many >= _AMONG_MANY):
            found.append(choice)
    return found


def bounded(chosen: Sequence[Choice], messages: int) -> list[Choice]:
    """The weightiest choices in their order, each text of a person once.

    One for two `messages` of people, at least four; what says little fills up to four and no more.
    What somebody asked to remember is always kept and does not count; health and sums of money
    come first, and beside them at least four. Each entry that a person has makes their next one
    weigh 0.6 less.
    """
    once = {(choice.sentence.speaker, choice.sentence.text): choice for choice in chosen}
    newest_first = list(reversed(once.values()))
    kept = [choice for choice in newest_first if _comes_first(choice)]
    left = [choice for choice in newest_first if choice not in kept]
    slight = [choice for choice in left if choice.among_many < _AMONG_MANY]
    slight.sort(key=lambda choice: choice.among_many)
    for choice in slight[: max(0, len(left) - _LEAST_ENTRIES)]:
        left.remove(choice)
    counted = sum(not choice.sentence.asked for choice in kept)
    room = max(_LEAST_ENTRIES, messages // _MESSAGES_AN_ENTRY - counted)
    entries = Counter[str]()
    for _ in range(min(len(left), room)):
        best = max(
            left, key=lambda choice: choice.weight - _LATER * entries[choice.sentence.speaker]
        )
        entries[best.sentence.speaker] += 1
        left.remove(best)
        kept.append(best)
    return sorted(kept, key=lambda choice: choice.sentence.place)


def _comes_first(choice: Choice) -> bool:
    """Whether it is kept however short room is: asked for, somebody's health, a sum of money."""
    said = choice.sentence
    if said.asked or choice.kind is Kind.WISH or names_health(said.text):
        return True
    return any(matches("concrete", one, said.text) for one in ("sum", "vital"))


def sure_kind(text: str) -> Kind | None:
    """The kind that a text surely is by its words, `None` where it is none."""
    kind, weight = _kind(without_quotes(text))
    return personal_kind(text) or (kind if weight >= _SURE else None)


def _sum(name: str, values: dict[str, float], text: str) -> float:
    """What the sections of a file count together whose patterns a text shows."""
    return sum(value for section, value in values.items() if matches(name, section, text))


def _specific(text: str, words: Words) -> set[str]:
    """The words of a text that are not in `general.txt`; no parts of its compounds."""
    parts = [part for part in text.split() if part.strip(".,!?;:…-").casefold() not in general()]
    said = set(words.words(" ".join(parts)))
    specific = set[str]()
    for word in said:
        is_part = any(word != other and word in other for other in said)
        if not is_part and word not in general():
            specific.add(word)
    return specific


def _kind(text: str) -> tuple[Kind, float]:
    """The first kind with a pattern that fits, and its weight; else a fact of weight 0."""
    name, _, faint = first_section("worth", text).partition(" ")
    if not name:
        return Kind.FACT, 0.0
    return Kind(name), _FAINT if faint else _SURE + _WORTH_MORE.get(Kind(name), 0.0)


def _answer(alone: Choice | None, whole: Sentence, said: str) -> Choice:
    """The answer as a choice, with its question where it is short or would not be kept without.

    One that takes a proposal up, as `said`, decides: "yes, the town hall then".
    """
    if matches("questions", "agreement", said):
        return Choice(whole, Kind.DECISION, _SURE + _WORTH_MORE[Kind.DECISION])
    text = _MARKS.sub("", whole.text)
    about = _sum("concrete", _CONCRETE, text) - _sum("left_out", _EMPTY, text)
    kind = alone.kind if alone and alone.weight >= _WORTH else _kind(whole.text)[0]
    kind = Kind.HEALTH if names_health(whole.text) else kind
    weight = max(about + _ANSWERED, alone.weight if alone else 0.0)
    return Choice(whole, kind, weight, max(weight, alone.among_many if alone else 0.0))
