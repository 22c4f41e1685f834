"""A question as recall looks for it, and what kind of question it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pipimem.recall.phrases import (
    NAMES_A_TIME,
    Intent,
    asks,
    intents_of,
    is_chat,
    is_command,
    is_general,
    is_kind,
    is_one_question,
    is_order,
    is_procedure,
    kind_terms,
    phrases,
    says,
    weak_words,
    without_cues,
)
from pipimem.recall.postings import pairs
from pipimem.recall.scoring import Term
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.text.dates import mentioned, without_days
from pipimem.text.patterns import Pattern
from pipimem.text.words.index_words import Words

if TYPE_CHECKING:
    from pipimem.text.dates import Span


# A word that says little: far under the floor by itself, and a tie-breaker between items that share
# more.
_WEAK = 0.4
# What people quote or write as a name is what they mean.
_NAMED = 1.5
# "My" and "我" mean the one who asks.
_ASKER = 0.8
# A number of one or two digits is in many entries by chance.
_SHORT_NUMBER = 2
_NONE: frozenset[str] = frozenset()
# Of a longer message, what is asked stands at its beginning or its end; the rest is pasted.
_ENDS = 2_000

_QUOTED = Pattern(
    r"「([^」]{1,80})」|『([^』]{1,80})』|“([^”]{1,80})”|\"([^\"\n]{1,80})\""
    r"|《([^》]{1,80})》|【([^】]{1,80})】|`([^`\n]{1,80})`"
)
_NAME = Pattern(
    r"https?://[^\s<>\"'，。；、）)]+"  # an address
    r"|@[\w.-]{1,64}"  # a person
    # Each begins where a run of its letters begins: else a run of 100,000 would be read from every
    # letter.
    r"|(?<![\w./-])[\w.-]*/[\w./-]{2,}"  # a path
    r"|(?<![\w.-])[A-Za-z_][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+",  # an identifier of parts
    re.ASCII,
)


# A name by its capitals: of parts (OrderService), or of several words (React Native). One capital
# alone is not enough: of a person who is named memory knows much that was not asked.
_CAPITALISED = Pattern(
    r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b"
    r"|\b[A-Z][a-z]+(?: [A-Z][A-Za-z0-9]+)+\b"
)


def refined(
    text: str,
    words: Words,
    *,
    now: datetime,
    speaker: str = "",
    synonyms: Synonyms = NO_SYNONYMS,
    raw: bool = False,
) -> Query:
    """What to look for; `raw` takes every word as it is, for a person who searches on purpose."""
    text = both_ends(text)
    bag = words.bag(text)
    entities = _entities(text)
    names = (*entities, *_capitalised(text))
    named = frozenset(words.words(" ".join(names))) if names else _NONE
    grams = tuple(dict.fromkeys(pairs(bag)))
    written = words.written(text)
    asked = [_term(word, named, written.get(word, "")) for word in dict.fromkeys(bag.words)]
    terms = synonyms.added(asked, grams)
    query = Query(
        text,
        terms if raw else _without_orders(terms, is_asked=says("question", text)),
        grams,
        entities,
        tuple(mentioned(text, now)),
        intents_of(text),
        asks_when=says("asks when", text),
    )
    if raw:
        return query
    judged = _judged(query, terms, words, now, speaker)
    kinds = () if judged.silent else kind_terms(text)
    return replace(judged, terms=(*judged.terms, *kinds)) if kinds else judged


def _judged(
    query: Query, terms: Sequence[Term], words: Words, now: datetime, speaker: str
) -> Query:
    """The question with what it is nothing but, why to stay silent, and who asks."""
    as_usual = says("as usual", query.text)
    if as_usual and _says_nothing(words.words(phrases("as usual").sub(" ", query.text.lower()))):
        return replace(query, terms=(), grams=(), as_usual=True, speaker=speaker)
    asks_who = bool(speaker) and _asks_of_asker(query.text)
    of_days, pure = _is_of_days(query, words, now), not asks_who and _is_pure(query, words)
    silent = "" if of_days else _why_silent(query, terms, pure=pure)
    if not any((pure, of_days, silent, speaker, as_usual)):
        return query
    return replace(
        query,
        pure=pure,
        of_days=of_days,
        silent="" if as_usual or asks_who else silent,
        terms=(*query.terms, *_speakers_name(speaker, words, query)),
        as_usual=as_usual,
        asks_who=asks_who,
        speaker=speaker,
    )


def _asks_of_asker(text: str) -> bool:
    return says("who", text) or (says("own words", text) and asks(text))


def _speakers_name(speaker: str, words: Words, query: Query) -> tuple[Term, ...]:
    """The name of who asks, where the question speaks of its asker."""
    if speaker and says("first person", query.text):
        return _asker(speaker, words, query)
    return ()


def both_ends(text: str) -> str:
    """A short text as it is; of a longer one what stands at its beginning and its end."""
    return f"{text[:_ENDS]}\n{text[-_ENDS:]}" if len(text) > 2 * _ENDS else text


def _entities(text: str) -> tuple[str, ...]:
    quoted = (next(filter(None, match.groups())) for match in _QUOTED().finditer(text))
    named = (match[0].rstrip(".-/,;:!?") for match in _NAME().finditer(text))
    return tuple(dict.fromkeys(entity.strip() for entity in (*quoted, *named) if entity.strip()))


def _capitalised(text: str) -> list[str]:
    """The names that stand out by their capitals; days and months are none."""
    found = [match[0] for match in _CAPITALISED().finditer(text)]
    return [name for name in found if not NAMES_A_TIME().search(name)]


def _term(word: str, named: frozenset[str], written: str = "") -> Term:
    is_short_number = len(word) <= _SHORT_NUMBER and word.isdecimal()
    if len(word) == 1 or is_short_number or word in weak_words("common"):
        return Term(word, _WEAK, weak=True)
    return Term(word, _NAMED if word in named else 1.0, written=written)


def _is_of_days(query: Query, words: Words, now: datetime) -> bool:
    if (
        not any(span.start < now.date() for span in query.spans)
        or query.entities
        or query.asks_when
    ):
        return False  # of today and tomorrow no history tells
    if not asks(query.text):
        return False
    left = words.words(without_cues(without_days(query.text, now)))
    return _says_nothing(left)


def _without_orders(terms: tuple[Term, ...], *, is_asked: bool) -> tuple[Term, ...]:
    """The terms without orders to a bot.

    In a question only what is asked of a bot is an order: not in "how far did I run?".
    """
    orders = weak_words("asking" if is_asked else "orders")
    kept = tuple(term for term in terms if term.word not in orders)
    return kept if any(not term.weak for term in kept) else terms


def _is_pure(query: Query, words: Words) -> bool:
    if not query.intents or query.entities or not asks(query.text):
        return False
    return _says_nothing(words.words(without_cues(query.text)))


def _says_nothing(words: Sequence[str]) -> bool:
    """Whether words that stand beside a day or the cue of an intent name nothing."""
    return weak_words("common", "orders", "fillers").issuperset(words)


def _why_silent(query: Query, terms: Sequence[Term], *, pure: bool) -> str:
    """Why there is nothing to look for; `terms` are all of the question's, orders included."""
    text = query.text.strip()
    if is_chat(text):
        return "chat that asks for nothing"
    if is_command(text):
        return "a command for a shell"
    if pure:
        return ""
    if not terms and not query.grams:
        return "no word to look for"
    return _why_not_ours(query, terms, text)


def _why_not_ours(query: Query, terms: Sequence[Term], text: str) -> str:
    """Why memory has nothing to say to a question that names something."""
    orders = weak_words("orders")
    words = [term.word for term in terms if term.word not in orders]
    # The cheap looks first: they settle it for nearly every question.
    if weak_words("objects").issuperset(words) and _names_nothing(query, text):
        return "an order that names nothing"
    if weak_words("topics", "common").issuperset(words) and _is_textbook(query, words, text):
        return "a question any textbook answers"
    if is_order(text) and not says("ours", text):
        return "an order that memory has no part in"
    return ""


def _names_nothing(query: Query, text: str) -> bool:
    return not query.entities and not says("question", text)


def _is_textbook(query: Query, words: Sequence[str], text: str) -> bool:
    if query.intents or not words:
        return False
    return says("textbook", text) and not says("ours", text)


def _asker(speaker: str, words: Words, query: Query) -> tuple[Term, ...]:
    """The asker's name, which brings what is theirs to the front.

    It is evidence only where they ask for their tastes.
    """
    present = {term.word for term in query.terms}
    weak = Intent.PREFERENCES not in query.intents
    names = [word for word in dict.fromkeys(words.words(speaker)) if word not in present]
    return tuple(Term(word, _ASKER, weak=weak) for word in names)


@dataclass(frozen=True, slots=True)
class Query:
    """A question as recall looks for it.

    `as_usual` says that it is to be done as the `speaker` likes it, `asks_who` that they ask who
    they are, or what they said. `asks_when` says that the answer is a time. `silent` is why the
    automatic path has nothing to look for, empty otherwise. `pure` says that the question is
    nothing but its intents ("what did we decide?"), `of_days` that it asks for nothing but days
    ("what did we do on Thursday?").
    """

    text: str
    terms: tuple[Term, ...] = ()
    grams: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    intents: tuple[Intent, ...] = ()
    pure: bool = False
    of_days: bool = False
    silent: str = ""
    asks_when: bool = False
    as_usual: bool = False
    asks_who: bool = False
    speaker: str = ""

    def is_general(self) -> bool:
        """Whether it may be about the world at large; worked out at each call."""
        if self.pure or self.silent or self.entities:
            return False
        things = _count_things(self.terms)
        if says("ours", self.text):
            # "How do I record my screen?" asks for a way, whose screen it may be.
            return is_procedure(self.text, things) and not says("ours", _without_mine(self.text))
        return is_general(self.text, things) or self._is_of_a_textbook()

    def _is_of_a_textbook(self) -> bool:
        topics = weak_words("topics")
        if says("particular", self.text):
            return False
        return says("textbook", self.text) and any(term.word in topics for term in self.terms)

    def is_ours(self) -> bool:
        """Whether it is one question about the asker's own affairs, or something particular."""
        return is_one_question(self.text) and (
            self.is_particular() or says("first person", self.text)
        )

    def is_particular(self) -> bool:
        """Whether it speaks of something particular: persons, what has been, what both know."""
        return says("ours", self.text) or says("particular", self.text)

    def only_tells(self) -> bool:
        """Whether someone tells of themselves and asks nothing."""
        return says("telling", self.text) and not asks(self.text)


def _without_mine(text: str) -> str:
    return phrases("mine").sub(" ", text.lower())


def _count_things(terms: Sequence[Term]) -> int:
    """How many things are named; "log in" is also looked for as "login": one thing."""
    named = [term.word for term in terms if not (term.weak or is_kind(term))]
    longest = [word for word in named if not _is_in_another(word, named)]
    return len(longest)


def _is_in_another(word: str, words: Sequence[str]) -> bool:
    return any(word in other and word != other for other in words)
