"""What stands before every page: host, origin, sign-in, preconditions, and headers of safety."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pipimem.serving.access import Token
from pipimem.serving.http_server import foreign_source
from pipimem.web.pages import Pages, preferred_language
from pipimem.web.request_fields import json_object, text_of
from pipimem.web.sentences import sentence

SIGN_IN = "/sign-in"
# What a page may load before anybody has signed in: no text of a memory is among it.
_STATIC = "/static/"
_OPEN = (SIGN_IN, _STATIC, "/favicon.ico")
# Styles and scripts hold no word of a memory, and a page is painted only once its styles are there.
# No longer: a page of the next start must not meet the scripts of this one.
_KEPT = "private, max-age=60"
_OK = 200
_READING = ("GET", "HEAD")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_SESSION_BYTES = 32


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """The cookie of who has signed in: one value for each start of the server.

    Its name has the port, since a browser sends the cookies of a host to all its ports.
    """

    port: int
    value: str = field(default_factory=lambda: secrets.token_urlsafe(_SESSION_BYTES), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"pipimem-{self.port}"

    def set_on(self, response: Response) -> None:
        """Hand it to the browser: no script reads it, and no page of another site sends it."""
        response.set_cookie(self.cookie, self.value, httponly=True, samesite="strict", path="/")

    def is_shown_by(self, headers: Headers) -> bool:
        """Whether a request has it, once."""
        shown = [
            value
            for header in headers.getlist("cookie")
            for name, value in _cookies(header)
            if name == self.cookie
        ]
        return len(shown) == 1 and secrets.compare_digest(shown[0].encode(), self.value.encode())


def _cookies(header: str) -> list[tuple[str, str]]:
    try:
        return [(name, morsel.value) for name, morsel in SimpleCookie(header).items()]
    except CookieError:
        return []


@dataclass(frozen=True, slots=True)
class PageGuard:
    """Lets requests pass that may, and gives every answer the headers of safety.

    421 for a foreign Host, 403 for a page of another origin and for a change where the view is
    `read_only`, 401 without signing in (a page is led to it), 415 and 428 for a change that is no
    JSON and has no If-Match: a form of another page can send neither.
    """

    app: ASGIApp
    session: BrowserSession
    hosts: Sequence[str]
    read_only: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if message["status"] == _OK and scope["path"].startswith(_STATIC):
                    headers["cache-control"] = _KEPT
            await send(message)

        refused = self._refused(scope, Headers(scope=scope))
        await (refused or self.app)(scope, receive, send_safely)

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        refused = foreign_source(headers, self.hosts) or _foreign_fetch(scope, headers)
        if refused is not None:
            return refused
        is_open = scope["path"].startswith(_OPEN)
        if not is_open and not self.session.is_shown_by(headers):
            return _signing_in(scope, headers)
        if scope["method"] in _READING:
            return None
        return self._refused_change(scope, headers)

    def _refused_change(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return PlainTextResponse("Send application/json.", 415)
        if scope["path"] == SIGN_IN:
            return None
        if self.read_only:
            return PlainTextResponse("This view is read-only.", 403)
        if not headers.get("if-match", "").strip():
            return PlainTextResponse("Say in If-Match what is to be changed.", 428)
        return None


def _foreign_fetch(scope: Scope, headers: Headers) -> Response | None:
    """The refusal of what another page asks for itself; a person may follow its link to us.

    Browsers send Sec-Fetch-Site; another port of this machine is the same site to them.
    """
    site = headers.get("sec-fetch-site", "none")
    is_followed = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _READING
    if site in ("same-origin", "none") or is_followed:
        return None
    return PlainTextResponse("Pages of other origins may not use this server.", 403)


def _signing_in(scope: Scope, headers: Headers) -> Response:
    """Leads a page to the sign-in, which leads back; anything else is told."""
    if scope["method"] not in _READING or "text/html" not in headers.get("accept", ""):
        why = "Sign in with the address that `pipimem ui` shows."
        language = preferred_language(headers.get("accept-language", ""))
        return PlainTextResponse(sentence(why, language), 401)
    wanted = scope["path"]
    if scope["query_string"]:
        wanted += "?" + scope["query_string"].decode("latin-1")
    return RedirectResponse(f"{SIGN_IN}?next={quote(wanted, safe='')}", 303)


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
