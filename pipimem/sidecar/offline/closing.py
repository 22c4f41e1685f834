"""Whether what somebody says is done is what was promised, also in other words."""

from __future__ import annotations

import re
from collections.abc import Collection

from pipimem.sidecar.offline.sentences import Sentence
from pipimem.sidecar.offline.weights import Weights
from pipimem.sidecar.offline.wording import clauses
from pipimem.text.han import HAN

# This share of a promise's words must come back with "done" to close it; of one clause that says it all, some more.
_CLOSED, _CLOSED_CLAUSE = 0.5, 0.6
_CLOSED_WORDS = 2
# Words of promising and of time: the thing promised is in the others.
_OF_PROMISING = re.compile(
    r"^(?:open|item|todo|remind|task|need|提醒|待办|之前|以前|中午|上午|下午|早上|晚上|月底|到期|今天|明天|后天|下班|下周|下班前|负责)$"
)
# "换完" is promised, "换好了" is told: the verb is the same.
_RESULT = re.compile(rf"([{HAN}])(?:好|完|定|掉|成|了)")
_WAITING = re.compile(r"\b(?:waiting (?:for|on)|pending)\b|等[^，。]{0,10}(?:回复|确认|审核|批复)", re.IGNORECASE)
_DECIDED = re.compile(
    r"\b(?:approved|rejected|confirmed|granted|released)\b|通过|批了|回复了|审核(?:通过|完)|确认了", re.IGNORECASE
)


def closes(sentence: Sentence, promise: str, weights: Weights, people: Collection[str]) -> bool:
    """Whether a sentence that says "done" closes a promise; somebody's own promise is closed by them alone."""
    owner = next((name for name in people if name in promise), "")
    if owner and owner != sentence.speaker:
        return False
    names = weights.names(people)
    asked, told = _matter(promise, weights, names), weights.bag(sentence.text)
    shared = asked & told
    if not shared:
        return False
    if _covers(asked, told, weights, _CLOSED):
        return True
    if _WAITING.search(promise) and _DECIDED.search(sentence.text):
        return True
    parts = [_matter(part, weights, names) for _, part in clauses(promise)]
    if any(len(part) > 1 and _covers(part, told, weights, _CLOSED_CLAUSE) for part in parts):
        return True
    return _same_result(promise, sentence.text) and any(len(word) > 1 for word in shared)


def _matter(text: str, weights: Weights, names: Collection[str]) -> frozenset[str]:
    words = weights.bag(text)
    return frozenset(w for w in words if w not in names and not w[:1].isdigit() and not _OF_PROMISING.match(w))


def _covers(asked: frozenset[str], told: frozenset[str], weights: Weights, share: float) -> bool:
    shared = asked & told
    return len(shared) >= min(_CLOSED_WORDS, len(asked)) and weights.total(shared) >= share * weights.total(asked)


def _same_result(promise: str, told: str) -> bool:
    return bool(set(_RESULT.findall(promise)) & set(_RESULT.findall(told)))
