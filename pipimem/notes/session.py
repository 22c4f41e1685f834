"""The sections of SESSION.md that the runtime writes, under the names people may give them."""

from __future__ import annotations

from collections.abc import Iterable

# The first name is written, all are understood. Order is the order in the file.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Session Title": ("Session Title", "Title", "会话标题", "标题"),
    "Current State": ("Current State", "当前状态", "现状"),
    "User Intent": ("User Intent", "Intent", "用户意图", "目标"),
    "Active Files": ("Active Files", "Files", "相关文件", "文件"),
    "Decisions": ("Decisions", "决定", "决策"),
    "Constraints": ("Constraints", "约束", "限制"),
    "Errors & Corrections": (
        "Errors & Corrections",
        "Errors and Corrections",
        "Errors",
        "错误与更正",
        "错误与纠正",
    ),
    "Next Steps": ("Next Steps", "下一步", "后续步骤"),
    "Worklog": ("Worklog", "Work Log", "工作日志", "工作记录"),
}

_NAME_OF = {name.casefold(): section for section, names in SECTIONS.items() for name in names}


def section_of(title: str) -> str | None:
    """The standard section a heading stands for, `None` for a heading of people's own."""
    return _NAME_OF.get(title.strip().casefold())


def title_for(section: str, present: Iterable[str]) -> str:
    """The heading of `present` that stands for this section, or the one to write."""
    return next((title for title in present if section_of(title) == section), section)
