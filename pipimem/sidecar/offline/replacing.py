"""Which older entry a newer statement takes the place of: rather too few than one too many."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from pipimem.notes.kinds import Kind
from pipimem.sidecar.offline.cues import CHANGED
from pipimem.sidecar.offline.phrases import found, without
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.weekdays import WEEKDAY_EN, WEEKDAY_ZH

# The same thing in two languages, among words that plans and arrangements are made of.
_TRANSLATED = {
    "releas": "发布", "launch": "发布", "上线": "发布", "发版": "发布", "window": "窗口", "meet": "会议", "开会": "会议",
    "deadlin": "截止", "期限": "截止", "branch": "分支", "version": "版本", "databas": "数据库", "birthday": "生日",
    "address": "地址", "phone": "电话", "budget": "预算", "price": "价格", "interview": "面试", "trip": "旅行", "旅游": "旅行",
    "flight": "航班", "appoint": "预约", "deploy": "部署", "backup": "备份", "rollback": "回滚", "test": "测试",
}  # fmt: skip
# A word that only holds a digit (s3, lan-482) is a name.
_VALUE = re.compile(rf"^\d|^{WEEKDAY_EN}|{WEEKDAY_ZH}|点|[上下早晚]午|晚上|早上|月")
_CLOCK = re.compile(r"\d{1,2}:\d\d|\d\s*(?:am|pm)\b|[\d一二三四五六七八九十]点", re.IGNORECASE)
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(rf"\d{{4}}-\d\d-\d\d|\b\d{{1,2}} (?:{_MONTHS})|\b(?:{_MONTHS})\w* \d|\d月\d+[日号]", re.IGNORECASE)

# With a word of change, this share of the lighter statement must be common.
_SHARED_WITH_CHANGE = 0.4
# Where they do not both give a value (a number, a date, a time), so much.
_SHARED_WITHOUT_VALUE = 0.7
# One word in common ("port") says too little of what it is about.
_LEAST_WORDS = 2
# What people like adds up; only what can have one value at a time gives way without a word of change.
_SINGLE = (Kind.DECISION, Kind.CONSTRAINT, Kind.FACT, Kind.OPEN_LOOP, Kind.IDENTITY, Kind.ONGOING)


@dataclass(frozen=True, slots=True)
class Statement:
    """A text of a kind, and whose it is where it is somebody's own."""

    text: str
    kind: Kind | None


def takes_the_place(new: Statement, old: Statement, weights: Weights, people: Collection[str]) -> bool:
    """Whether `new` is a newer value of what `old` says."""
    if new.text == old.text or not _same_person(new, old, people):
        return False
    mine, theirs = _subject(new.text, weights, people), _subject(old.text, weights, people)
    shared = mine & theirs
    values, older = _values(new.text, weights), _values(old.text, weights)
    both_valued = bool(values and older)
    changed = found(CHANGED, new.text)
    if not shared or not (changed or (both_valued and values != older)):
        return False
    if changed and _kin(new.kind, old.kind):
        lighter = min(weights.total(mine), weights.total(theirs))
        if both_valued:
            enough = len(shared) >= _LEAST_WORDS or _both_scheduled(new.text, old.text)
            return enough and weights.total(shared) >= _SHARED_WITH_CHANGE * lighter
        # A word of change and two words in common may be two facts of one matter.
        return len(shared) > _LEAST_WORDS and weights.total(shared) >= _SHARED_WITHOUT_VALUE * lighter
    # Without one, nothing but the value may differ: alpha's port is not a newer value of beta's.
    return new.kind is old.kind and new.kind in _SINGLE and len(mine) >= _LEAST_WORDS and mine == theirs


def _kin(new: Kind | None, old: Kind | None) -> bool:
    # A date may stand as a decision here and as a promise there; a liking is neither.
    return (new is Kind.PREFERENCE) == (old is Kind.PREFERENCE) and Kind.LESSON not in (new, old)


def _same_person(new: Statement, old: Statement, people: Collection[str]) -> bool:
    """What somebody is, likes or promised gives way only to their own word."""
    if new.kind in (Kind.DECISION, Kind.CONSTRAINT, Kind.FACT) and old.kind not in (Kind.PREFERENCE, Kind.IDENTITY):
        return True
    return _owner(new.text, people) == _owner(old.text, people)


def _owner(text: str, people: Collection[str]) -> str:
    return next((name for name in people if text.startswith(name)), "")


def _subject(text: str, weights: Weights, people: Collection[str]) -> frozenset[str]:
    """The words that say what it is about: no values, no words of change, no names of those who speak."""
    words = weights.bag(without(CHANGED, text)) - weights.names(people)
    return frozenset(_TRANSLATED.get(word, word) for word in words if not _VALUE.search(word))


def _values(text: str, weights: Weights) -> frozenset[str]:
    return frozenset(word for word in weights.bag(text) if _VALUE.search(word))


def _both_scheduled(new: str, old: str) -> bool:
    return all(_DATE.search(text) and _CLOCK.search(text) for text in (new, old))
