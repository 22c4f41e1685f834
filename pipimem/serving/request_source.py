"""Whether a request names a host of ours and comes from no foreign page."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response


def foreign_source(headers: Headers, hosts: Sequence[str]) -> Response | None:
    """The refusal of a request that names another host (421) or comes from a page of one (403).

    A page that has its name resolved to this machine sends its own name as Host, whatever else it
    may read or guess.
    """
    if headers.getlist("host") not in [[host] for host in hosts]:
        return PlainTextResponse("This server does not answer to that host.", 421)
    origins = {f"http://{host}" for host in hosts}
    if not origins.issuperset(headers.getlist("origin")):
        return PlainTextResponse("Pages of other origins may not use this server.", 403)
    return None
