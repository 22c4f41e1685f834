"""Whether what somebody tells is the outcome of a promise: that it is done, in other words."""

from __future__ import annotations

from pipimem.sidecar.rules.claims import Claim
from pipimem.text.quotes import speaks_of_itself
from pipimem.text.talk.statements import (
    clauses_of,
    is_light,
    matter,
    names_of,
    numbers_of,
    says,
    without,
)
from pipimem.text.words.index_words import Words

# A promise is kept when so much of what it is about is said to be done, and at least so many words.
_DONE_SHARE, _DONE_WORDS = 0.4, 2
_SEVERAL_SHARE = 0.75  # "the invoice and the contract" is not done when the invoice is


def is_done(told: Claim, promise: Claim, words: Words) -> bool:
    """Whether `told` says that what was promised is done.

    Another person than who promised it must speak of the very thing, and not of themselves.
    """
    names = names_of(promise.said)
    if names and not names_of(told.said) <= names | {told.speaker.casefold()}:
        return False
    if not _is_theirs(told, promise) and not _is_of_that_thing(told, promise, words):
        return False
    done = [clause for clause in clauses_of(told.said, words) if is_outcome(clause)]
    return any(_fulfils(clause, told.said, promise.said, words) for clause in done)


def is_outcome(clause: str) -> bool:
    """Whether a clause says that something is done."""
    return says("done", clause) or says("done by oneself", clause)


def _is_theirs(told: Claim, promise: Claim) -> bool:
    """Whether who tells it is who promised it, or was asked to do it."""
    if not promise.speaker or told.speaker == promise.speaker:
        return True
    return bool(told.speaker) and told.speaker in promise.said


def _is_of_that_thing(told: Claim, promise: Claim, words: Words) -> bool:
    """Whether somebody else may tell the outcome: of "the projector", not of their own report."""
    if speaks_of_itself(told.said) or says("own thing", promise.said):
        return False
    shared = matter(told.said, words) & matter(promise.said, words)
    telling = [word for word in shared if len(word) > 1]  # 交 alone is anybody's
    return len(telling) >= _DONE_WORDS or (bool(telling) and says("the", promise.said))


def _fulfils(clause: str, told: str, promised: str, words: Words) -> bool:
    """Whether a clause speaks of nothing but what was promised, or all that is told of much of it.

    Of several things that were promised at once most must be told of.
    """
    done = _things(without("completed", clause), words)
    parts = [part for part in clauses_of(promised, words) if done & _things(part, words)]
    numbers = [numbers_of(part) for part in parts if numbers_of(part)]
    if numbers and not numbers_of(clause) <= frozenset().union(*numbers):
        return False
    asked, thing = _things(promised, words), _things(without("done whatever", clause), words)
    is_whole = not says("several", promised)
    if is_whole and says("done whatever", clause) and thing and thing <= asked:
        return True
    if is_whole and done <= asked and len(done) >= min(_DONE_WORDS, len(asked)):
        return True
    share = _DONE_SHARE if is_whole else _SEVERAL_SHARE
    about = len(matter(promised, words))
    needed = max(1, min(_DONE_WORDS, about), share * about)
    return len(matter(promised, words) & matter(without("completed", told), words)) >= needed


def _things(text: str, words: Words) -> set[str]:
    """The words that a text is about, Chinese ones as their characters: 买票 and 票买好了."""
    found = set[str]()
    for word in matter(text, words):
        found.update([word] if word.isascii() else [one for one in word if not is_light(one)])
    return found
