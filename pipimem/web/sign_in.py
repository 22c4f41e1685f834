"""Signing in: the token of the address becomes a cookie, and leaves the address."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pipimem.serving.token import Token
from pipimem.web.guard import SIGN_IN, BrowserSession
from pipimem.web.pages import Pages
from pipimem.web.request_fields import json_object, text_of

_STATUS = "/sign-in/status"


@dataclass(frozen=True, slots=True)
class SignIn:
    """The page that a browser without the cookie is led to.

    The token stands in the fragment of its address, which no browser sends: a script posts it.
    """

    pages: Pages
    token: Token
    session: BrowserSession

    def routes(self) -> list[Route]:
        """The page, the question whether a cookie is there, and the exchange for one."""
        return [
            Route(SIGN_IN, self._page, methods=["GET"]),
            Route(SIGN_IN, self._exchange, methods=["POST"]),
            Route(_STATUS, self._status, methods=["GET"]),
        ]

    async def _page(self, request: Request) -> Response:
        return self.pages.rendered(request, "sign_in.html", next=_own_path(request))

    async def _status(self, request: Request) -> Response:
        """204 for who has signed in: a link in a chat leads here without the cookie."""
        return Response(status_code=204 if self.session.is_shown_by(request.headers) else 401)

    async def _exchange(self, request: Request) -> Response:
        shown = text_of(await json_object(request), "token")
        if not self.token.is_same(shown.encode("utf-8", "surrogatepass")):
            return PlainTextResponse("This is not the token of this start.", 401)
        response = Response(status_code=204)
        self.session.set_on(response)
        return response


def _own_path(request: Request) -> str:
    """Where to go on: a page of ours, by whatever the address says."""
    wanted = request.query_params.get("next", "/")
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    return wanted if is_ours and wanted.isprintable() and "\\" not in wanted else "/"
