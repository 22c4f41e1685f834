"""A question refined to what is worth looking for, or to the reason to stay silent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pipimem.recall import generalities, phrases, weak_words
from pipimem.recall.index import Term
from pipimem.recall.intents import Intent, intents_of, without_cues
from pipimem.recall.synonyms import NO_SYNONYMS, Synonyms
from pipimem.text.dates import Span, mentioned, without_days
from pipimem.text.patterns import Pattern
from pipimem.text.words import Words

# A word that says little: far under the floor by itself, and a tie-breaker between items that share more.
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

# What can be asked about in general.
_GENERIC = weak_words.GENERIC_TOPICS | weak_words.COMMON_WORDS

_QUOTED = Pattern(
    r"「([^」]{1,80})」|『([^』]{1,80})』|“([^”]{1,80})”|\"([^\"\n]{1,80})\""
    r"|《([^》]{1,80})》|【([^】]{1,80})】|`([^`\n]{1,80})`"
)
_NAME = Pattern(
    r"https?://[^\s<>\"'，。；、）)]+"  # an address
    r"|@[\w.-]{1,64}"  # a person
    # Each begins where a run of its letters begins: else a run of 100,000 would be read from every letter.
    r"|(?<![\w./-])[\w.-]*/[\w./-]{2,}"  # a path
    r"|(?<![\w.-])[A-Za-z_][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+",  # an identifier of parts
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Query:
    """A question as recall looks for it.

    `asks_when` says that the answer is a time. `silent` is why the automatic path has nothing to look for, empty otherwise. `pure` says that the
    question is nothing but its intents ("what did we decide?"), `of_days` that it asks for nothing but days ("what did we do on
    Thursday?").
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

    def is_general(self) -> bool:
        """Whether it may be about the world at large; found out only where that decides, for it takes longer than the rest."""
        if self.pure or self.silent or self.entities:
            return False
        named = [term.word for term in self.terms if not term.weak]
        # "log in" is also looked for as "login": one thing.
        things = [
            word for word in named if not any(word in other and word != other for other in named)
        ]
        return generalities.is_general(self.text, len(things)) and not phrases.OURS().search(
            self.text
        )

    def is_told(self) -> bool:
        """Whether someone tells of themselves and asks nothing."""
        return phrases.TELLING().search(self.text) is not None and not phrases.ASKING().search(
            self.text
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
    named = frozenset(words.words(" ".join(entities))) if entities else _NONE
    grams = tuple(dict.fromkeys([gram for gram in bag.grams if not gram[-1].isascii()]))
    terms = synonyms.added(_weighed(bag.words, named), grams)
    asked = Query(
        text,
        terms
        if raw
        else _without_actions(terms, is_asked=phrases.QUESTION().search(text) is not None),
        grams,
        entities,
        tuple(mentioned(text, now)),
        intents_of(text),
        asks_when=phrases.asks_when(text),
    )
    if raw:
        return asked
    of_days = _is_of_days(asked, words, now)
    pure = _is_pure(asked, words)
    silent = "" if of_days else _why_silent(asked, terms, pure=pure)
    asker = _asker(speaker, words, asked) if speaker and phrases.FIRST_PERSON().search(text) else ()
    if pure or of_days or silent or asker:
        return replace(
            asked, pure=pure, of_days=of_days, silent=silent, terms=(*asked.terms, *asker)
        )
    return asked


def both_ends(text: str) -> str:
    """A short text as it is; of a longer one what stands at its beginning and its end."""
    return f"{text[:_ENDS]}\n{text[-_ENDS:]}" if len(text) > 2 * _ENDS else text


def _entities(text: str) -> tuple[str, ...]:
    quoted = (next(filter(None, match.groups())) for match in _QUOTED().finditer(text))
    named = (match[0].rstrip(".-/,;:!?") for match in _NAME().finditer(text))
    return tuple(dict.fromkeys(entity.strip() for entity in (*quoted, *named) if entity.strip()))


def _weighed(words: tuple[str, ...], named: frozenset[str]) -> tuple[Term, ...]:
    return tuple([_term(word, named) for word in dict.fromkeys(words)])


def _term(word: str, named: frozenset[str]) -> Term:
    if (
        word in weak_words.COMMON_WORDS
        or len(word) == 1
        or (len(word) <= _SHORT_NUMBER and word.isdecimal())
    ):
        return Term(word, _WEAK, weak=True)
    return Term(word, _NAMED) if word in named else Term(word)


def _is_of_days(query: Query, words: Words, now: datetime) -> bool:
    if (
        not any(span.start < now.date() for span in query.spans)
        or query.entities
        or query.asks_when
    ):
        return False  # of today and tomorrow no history tells
    if not phrases.ASKING().search(query.text):
        return False
    left = words.words(without_cues(without_days(query.text, now)))
    return all(word in weak_words.FILLERS for word in left)


def _without_actions(terms: tuple[Term, ...], *, is_asked: bool) -> tuple[Term, ...]:
    """The terms without orders to a bot. In a question only what is asked of a bot is an order: "how far did I run?"."""
    orders = weak_words.ASKING_WORDS if is_asked else weak_words.ACTION_WORDS
    kept = tuple(term for term in terms if term.word not in orders)
    return kept if any(not term.weak for term in kept) else terms


def _is_pure(query: Query, words: Words) -> bool:
    if not query.intents or query.entities or not phrases.ASKING().search(query.text):
        return False
    return all(word in weak_words.FILLERS for word in words.words(without_cues(query.text)))


def _why_silent(query: Query, terms: Sequence[Term], *, pure: bool) -> str:
    """Why there is nothing to look for; `terms` are all of the question's, orders to a bot included."""
    text = query.text.strip()
    if len(text) <= phrases.CHAT_LENGTH and phrases.CHAT().fullmatch(text):
        return "chat that asks for nothing"
    if len(text) <= phrases.COMMAND_LENGTH and phrases.COMMAND_LINE().fullmatch(text):
        return "a command for a shell"
    if pure:
        return ""
    if not terms and not query.grams:
        return "no word to look for"
    left = [term.word for term in terms if term.word not in weak_words.ACTION_WORDS]
    # The cheap looks first: they settle it for nearly every question.
    if (
        weak_words.ACTION_OBJECTS.issuperset(left)
        and not query.entities
        and not phrases.QUESTION().search(text)
    ):
        return "an order that names nothing"
    if not query.intents and left and _GENERIC.issuperset(left) and _is_generic(text):
        return "a question any textbook answers"
    if generalities.is_order(text) and not phrases.OURS().search(text):
        return "an order that memory has no part in"
    return ""


def _is_generic(text: str) -> bool:
    return bool(phrases.GENERIC_QUESTION().search(text)) and not phrases.OURS().search(text)


def _asker(speaker: str, words: Words, query: Query) -> Iterator[Term]:
    """The asker's name: it brings what is theirs to the front, and is evidence only where they ask for their tastes."""
    present = {term.word for term in query.terms}
    weak = Intent.PREFERENCES not in query.intents
    return (
        Term(word, _ASKER, weak=weak)
        for word in dict.fromkeys(words.words(speaker))
        if word not in present
    )
