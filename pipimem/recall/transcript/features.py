"""What a message has and what a question wants: a time, a number, a name."""

from __future__ import annotations

import re
from enum import IntFlag

from pipimem.recall.phrases import NAMES_A_TIME, says
from pipimem.text.dates.calendar_words import SHORT
from pipimem.text.patterns import Pattern
from pipimem.text.talk.asking import may_be_off_the_record


class Shape(IntFlag):
    """What stands in a message, or is asked for."""

    QUESTION = 1
    TIME = 2
    NUMBER = 4
    NAME = 8
    OFF_THE_RECORD = 16  # asks, perhaps, not to be noted


SHAPELESS = Shape(0)

_RELATIVE = Pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past|previous|coming)"
    r" (?:week|month|year|night|weekend|summer|winter|spring|fall|autumn|few"
    rf"|{'|'.join(SHORT)})\w*"
    r"|ago|recently|since|weeks?|months?|years?|days?|just)\b"
    r"|昨|今天|明天|前天|后天|上周|下周|上个?月|下个?月|去年|明年|刚",
    re.IGNORECASE,
)
_NUMBER = Pattern(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|few|couple|several|dozen)\b|\d"
    r"|[一二三四五六七八九十两几百千]",
    re.IGNORECASE,
)
# A capital inside a sentence, or a title in its marks.
_NAME = Pattern(r"(?<=[a-z,] )[A-Z][a-z]+|\"[^\"]+\"|[《「『“]")

_ASKS_HOW_MANY = Pattern(
    r"\bhow (?:many|long|old|much|often|far|tall|big)\b|多少|几|多[久大长高远]", re.IGNORECASE
)
_ASKS_A_NAME = Pattern(
    r"\b(?:who|whom|whose|where|which|names?|named|called)\b|谁|哪|名字|叫什么", re.IGNORECASE
)


def shape_of(text: str) -> Shape:
    """What a message has that a question may want, and whether it may ask not to be noted."""
    shape = SHAPELESS
    if text.rstrip().endswith(("?", "？")):
        shape |= Shape.QUESTION
    if NAMES_A_TIME().search(text) or _RELATIVE().search(text):
        shape |= Shape.TIME
    if _NUMBER().search(text):
        shape |= Shape.NUMBER
    if _NAME().search(text):
        shape |= Shape.NAME
    if may_be_off_the_record(text):
        shape |= Shape.OFF_THE_RECORD
    return shape


def wanted(question: str) -> Shape:
    """What the answer to a question has."""
    shape = SHAPELESS
    if says("asks when", question):
        shape |= Shape.TIME
    if _ASKS_HOW_MANY().search(question):
        shape |= Shape.NUMBER
    if _ASKS_A_NAME().search(question):
        shape |= Shape.NAME
    return shape
