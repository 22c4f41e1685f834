"""What kinds of things a memory holds, and under which headings they stand."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Kind(StrEnum):
    """The kind of a durable entry; it decides the section, the retention and the intent that seeds it."""

    IDENTITY = "identity"
    FACT = "fact"
    PREFERENCE = "preference"
    ONGOING = "ongoing"
    CONSTRAINT = "constraint"
    DECISION = "decision"
    OPEN_LOOP = "open_loop"
    LESSON = "lesson"


# What happened once belongs to history; what holds (decisions, constraints, preferences …) stands in both on purpose.
EVENTS = (Kind.FACT, Kind.ONGOING)

# Headings of MEMORY.md by kind: the first is written, all are understood. Order is the order in the file.
HEADINGS: dict[Kind, tuple[str, ...]] = {
    Kind.IDENTITY: (
        "Participants",
        "Identity",
        "Identity / Participants",
        "People",
        "参与者",
        "身份",
        "成员",
    ),
    Kind.FACT: ("Facts", "Fact", "Shared Context", "Background", "事实", "背景"),
    Kind.PREFERENCE: ("Preferences", "Preference", "偏好", "喜好", "习惯"),
    Kind.ONGOING: ("Ongoing Work", "Ongoing", "Current Work", "进行中", "在做的事", "正在进行"),
    Kind.CONSTRAINT: ("Constraints", "Constraint", "Rules", "约束", "限制", "规则"),
    Kind.DECISION: ("Decisions", "Decision", "决定", "决策"),
    Kind.OPEN_LOOP: ("Open Loops", "Open Loop", "Todo", "To Do", "待办", "未决事项", "未完事项"),
    Kind.LESSON: ("Lessons", "Lesson", "Lessons Learned", "经验", "教训", "经验教训"),
}

_KIND_OF = {heading.casefold(): kind for kind, headings in HEADINGS.items() for heading in headings}


def kind_of(section: str) -> Kind | None:
    """The kind a heading stands for, `None` for a heading of people's own."""
    return _KIND_OF.get(section.strip().casefold())


def heading_for(kind: Kind, present: Iterable[str]) -> str:
    """The heading of `present` that holds this kind, or the one to write."""
    return next((title for title in present if kind_of(title) is kind), HEADINGS[kind][0])
