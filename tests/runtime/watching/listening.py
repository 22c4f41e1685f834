"""News as tests wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from pipimem.runtime.watching.news import Edited, News


@dataclass
class Heard:
    """What a watch told so far."""

    news: list[News] = field(default_factory=list)
    _more: threading.Condition = field(default_factory=threading.Condition)

    def tell(self, news: News) -> None:
        with self._more:
            self.news.append(news)
            self._more.notify_all()

    @property
    def folders(self) -> list[str]:
        return [folder for one in self.news if isinstance(one, Edited) for folder in one.folders]

    def until(self, condition: Callable[[], bool]) -> bool:
        with self._more:
            return self._more.wait_for(condition, timeout=60)

    def clear(self) -> None:
        with self._more:
            self.news.clear()
