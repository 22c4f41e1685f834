"""Remembers what was found out about a text, as long as the words by which it is cut are in use."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary, ref

T = TypeVar("T")
# What cuts texts into words; any object that may be referred to weakly.
W = TypeVar("W")
Asked = Callable[[str, W], T]


def remembered(most: int) -> Callable[[Asked[W, T]], Asked[W, T]]:
    """Decorates a function of a text and words: of each `words` the last `most` answers are kept.

    They go with their `words`. A cache with `words` in its keys would hold a workspace's
    dictionary long after the workspace was closed.
    """

    def decorated(function: Asked[W, T]) -> Asked[W, T]:
        known: WeakKeyDictionary[W, Callable[[str], T]] = WeakKeyDictionary()

        @wraps(function)
        def asked(text: str, words: W) -> T:
            answers = known.get(words)
            if answers is None:
                answers = known[words] = lru_cache(most)(_of_words(function, words))
            return answers(text)

        return asked

    return decorated


def _of_words(function: Asked[W, T], words: W) -> Callable[[str], T]:
    """The function of a text alone; it does not keep `words`, which whoever asks holds."""
    held = ref(words)

    def of_text(text: str) -> T:
        words = held()
        assert words is not None
        return function(text, words)

    return of_text
