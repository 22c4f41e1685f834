"""What `doctor` finds, each with what to do about it, and the background jobs that fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pipimem.runtime.health_report import Finding, findings
from pipimem.web.pages import Pages


class HealthPage:
    """`/health`: findings, the wrong ones first. There is none where one channel alone is shown."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def routes(self) -> list[Route]:
        """The page, for those who may see the workspace."""
        if self._pages.only is not None:
            return []
        return [Route("/health", self._page, methods=["GET"])]

    async def _page(self, request: Request) -> Response:
        found = await to_thread.run_sync(self._findings)
        failing = await to_thread.run_sync(self._pages.pipimem.store.failing)
        return self._pages.rendered(
            request,
            "health.html",
            findings=found,
            failing=[problem.sentence(name) for name, problem in failing],
            problems=sum(one.wrong for one in found),
        )

    def _findings(self) -> Sequence[Finding]:
        pipimem = self._pages.pipimem
        now = datetime.now().astimezone()
        root = pipimem.store.root
        found = [_placed(one, f"{root}/") for one in findings(root, "", now)]
        return sorted(found, key=lambda one: not one.wrong)


def _placed(one: Finding, root: str) -> Finding:
    """A finding with its place as seen from the workspace."""
    return replace(one, where=one.where.removeprefix(root))
