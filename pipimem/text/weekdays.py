"""The days of the week in English and Chinese, Monday first, and patterns of their names."""

from __future__ import annotations

ENGLISH = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT = tuple(name[:3] for name in ENGLISH)
# Sunday has two names.
CHINESE = "一二三四五六日天"

# To stand in a pattern that ignores case.
WEEKDAY_EN = f"(?:{'|'.join(ENGLISH)})"
WEEK_ZH = "(?:周|星期|礼拜)"
WEEKDAY_ZH = f"{WEEK_ZH}[{CHINESE}]"
