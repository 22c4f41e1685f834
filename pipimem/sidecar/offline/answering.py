"""A question and the answer that makes sense only with it, told as one statement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipimem.sidecar.offline.sentences import Sentence

# An answer comes soon, from somebody else than who asked; a bot that does not know may come between.
_SOON = 4
_HOW_LONG = re.compile(r"\bhow long (?:have|has) you(?:'ve| guys)? (?:been )?(?P<what>[^?]{3,60})$", re.IGNORECASE)
_BEEN = re.compile(r"\bhow long have you been\b", re.IGNORECASE)
_FOR = re.compile(
    r"^(?:for |about |almost |nearly |over |around |it's been |its been |we've been .{0,20} for )*(?P<time>(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)"
    r" (?:years?|months?|weeks?|days?))\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"^(?:since|from) (?P<time>[^,.!]{3,30})", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:it|that|this|them|those|these|him|her|there|your?)\b", re.IGNORECASE)
_WHO = re.compile(r"^who(?P<verb>'s| is| has| takes| does| owns| handles)\b(?P<what>[^?]{4,60})$", re.IGNORECASE)
_ME = re.compile(
    r"^(?:me|I do|I am|I'll (?:take|do|handle) (?:it|that)|I (?:can )?take (?:it|that)|that's me)\b[,.]?\s*(?P<more>[^.]{0,60})$",
    re.IGNORECASE,
)
_WHO_ZH = re.compile(r"^(?P<before>[^谁？]{0,16})谁(?:来)?(?P<after>[^谁？]{1,20}?)[呢啊]?$")
_ME_ZH = re.compile(r"^(?:我来|我负责|我接|我吧|由我来?|我)(?:[，,]\s*(?P<more>[^。]{0,30}))?$")


@dataclass(frozen=True, slots=True)
class Answered:
    """A statement made of a question and its answer, by the one who answered."""

    text: str
    answer: Sentence
    sources: tuple[str, ...]


def answered(said: Sequence[Sentence]) -> list[Answered]:
    """What questions of "how long" and "who" came to; `said` is a window's sentences in order."""
    found: list[Answered] = []
    for place, question in enumerate(said):
        if not question.question or question.role != "user":
            continue
        for answer in said[place + 1 : place + 1 + _SOON]:
            text = _told(question, answer) if answer.role == "user" else ""
            if text:
                found.append(Answered(text, answer, (*question.sources, *answer.sources)))
                break
    return found


def _told(question: Sentence, answer: Sentence) -> str:
    asked, name = question.text.strip(), answer.speaker
    if not name or answer.question:
        return ""
    if (long := _HOW_LONG.search(asked)) and question.speaker != name and not _POINTS.search(long["what"]):
        been = "been " if _BEEN.search(asked) else ""
        if time := _FOR.match(answer.text):
            return f"{name} has {been}{long['what']} for {time['time'].lower()}"
        if time := _SINCE.match(answer.text):
            return f"{name} has {been}{long['what']} since {time['time']}"
    if (who := _WHO.match(asked)) and (me := _ME.match(answer.text)):
        verb, more = who["verb"].lower(), me["more"].strip()
        does = " is" if verb == "'s" else verb
        return f"{name}{does}{who['what']}" + (f" ({more})" if more else "")
    if (who := _WHO_ZH.match(asked)) and (me := _ME_ZH.match(answer.text)):
        return f"{who['before']}{name}{who['after']}" + (f"（{me['more']}）" if me["more"] else "")
    return ""
