"""The title of a block: what its weightiest bullets say, in a few words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipimem.sidecar.offline.cues import DONE
from pipimem.sidecar.offline.phrases import found
from pipimem.sidecar.offline.sentences import is_chinese
from pipimem.sidecar.offline.wording import clauses, trimmed
from pipimem.text.weekdays import CHINESE

# A heading on one line; two short things, or one that takes more room.
_MOST_CHARS, _MOST_CHARS_ZH = 60, 30
_MOST_EACH, _MOST_EACH_ZH = 44, 22
_LEAST_CHARS, _LEAST_CHARS_ZH = 10, 5
_LED_BY = re.compile(r"^[^：:，,]{1,20}[：:]\s*")
_DATE = re.compile(
    r"\s*\b(?:(?:on|in|since|by|before|from|for)\s+)?(?:the (?:week|weekend|morning|afternoon|evening) of )?\d{4}-\d\d(?:-\d\d)?(?:\s*(?:之前|以前|前))?,?\s*",
    re.IGNORECASE,
)
# In Chinese a date inside a clause mostly is what was settled: "发布改到 2026-03-11".
_DATE_ZH = re.compile(
    r"^(.{0,4}?)(?<![到在为于至])(?<![到在为于至]\s)\s*\d{4}-\d\d(?:-\d\d)?\s*(?=[^\s，]{4})|\s*\d{4}-\d\d-\d\d$"
)
_OPENING = re.compile(
    r"^(?:we(?:'ve| have|'re| are)? (?:(?:all|finally) )?(?:decided|agreed)(?: to| that)?\s|(?:我们|大家|最后|最终)?(?:一致)?(?:决定|商定|约定)|我们|今天|昨天|最近)",
    re.IGNORECASE,
)
# Who "we" or "that" is, a title does not say.
_NO_TOPIC = re.compile(
    r"^(?:we|our|us|you|your|it|they|he|she|this|that|these|those|there|here|and|in \w+ \d{4}$)\b|^[这那]|^(?:还有|以及|比如)"
    rf"|是周[末{CHINESE}]",
    re.IGNORECASE,
)
_PATH = re.compile(r"^\S*[/\\.]\S+")
# Where an English clause may end early and still say something.
_CUT = re.compile(
    r"\s(?=(?:because|so|since|when|where|while|who|that|which|after|before|with|for|from|in|at|on|by|and|to|as)\s)"
)
_HANGING = re.compile(
    r"\b(?:is|are|was|were|has|have|had|the|an?|going|trying|wants?|able|how|been|getting|thinking|looking|just|also|used|planning|hoping|aiming|started|loves?|likes?|got|excited|of|made|about)$|(?:的|了一|一)$",
    re.IGNORECASE,
)


def titled(told: Sequence[tuple[str, str]]) -> str:
    """A title from bullets with who said them, the weightiest first; empty where none can be cut short."""
    title = ""
    for text, speaker in told:
        short = _shortened(text, speaker)
        if not short or short in title:
            continue
        longer = f"{title}{'；' if is_chinese(title) else '; '}{short}" if title else short
        most = _MOST_CHARS_ZH if is_chinese(title or short) and is_chinese(short) else _MOST_CHARS
        if len(longer) <= most:
            if title:
                return longer
            title = longer
    return title


def _shortened(text: str, speaker: str) -> str:
    """The clause that says it, without who led it in and when."""
    bare = _LED_BY.sub("", text).strip()
    bare = _DATE_ZH.sub(r"\1", bare) if is_chinese(bare) else _DATE.sub(" ", bare).strip()
    at = _place(bare, speaker)
    clause = next((part for place, part in reversed(clauses(bare)) if place <= at), bare)
    clause = trimmed(_OPENING.sub("", trimmed(" ".join(clause.split()))))
    chinese = is_chinese(clause)
    if not chinese:
        clause = _cut(clause)
    least, most = (_LEAST_CHARS_ZH, _MOST_EACH_ZH) if chinese else (_LEAST_CHARS, _MOST_EACH)
    if not least <= len(clause) <= most or _HANGING.search(clause) or clause == speaker:
        return ""
    if _PATH.match(clause) or _NO_TOPIC.search(clause):
        return ""
    return clause[:1].upper() + clause[1:] if clause.isascii() else clause


def _place(bare: str, speaker: str) -> int:
    """Where it is said that something got done, else where the speaker is named."""
    done = found(DONE, bare)
    return done.start() if done else max(0, bare.find(speaker)) if speaker else 0


def _cut(clause: str) -> str:
    """As much of an English clause as fits, ended where a phrase ends."""
    if len(clause) <= _MOST_EACH:
        return clause
    ends = [found.start() for found in _CUT.finditer(clause) if found.start() <= _MOST_EACH]
    for end in reversed(ends):
        if end >= _LEAST_CHARS * 2 and not _HANGING.search(clause[:end]):
            return clause[:end]
    return clause
