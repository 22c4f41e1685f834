"""How a page is made: its language, its template, the channel it is about, what may be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pipimem import Item, Source
from pipimem.errors import ChannelError
from pipimem.notes.kinds import File
from pipimem.resources import web_folder, web_texts
from pipimem.web.markdown import plain, rendered, ticked
from pipimem.web.sentences import sentence

if TYPE_CHECKING:
    from pipimem.runtime.channel import Channel
    from pipimem.runtime.pipimem import Pipimem


# The name is that of the text that stands for it in `[page]` of data/web/*.toml.
COSTS = ("costs", "/costs")
WORKSPACE_PAGES = (("channels", "/"), COSTS, ("health", "/health"))
CHANNEL_PAGES = (
    ("notes", "/channel"),
    ("changes", "/changes"),
    ("talk", "/talk"),
    ("agenda", "/agenda"),
    ("conflicts", "/conflicts"),
    ("playground", "/playground"),
)


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a workspace, or of the one channel `only`; nothing changes where `read_only`."""

    pipimem: Pipimem
    only: str | None = None
    read_only: bool = False
    _templates: Environment = field(init=False, repr=False)

    def __post_init__(self) -> None:
        templates = Environment(
            loader=FileSystemLoader(web_folder("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        templates.filters |= {
            "markdown": rendered,
            "plain": plain,
            "ticked": ticked,
            "day": _day,
            "minute": _minute,
            "moment": _moment,
            "sentence": sentence,
        }
        templates.globals["url"] = url
        object.__setattr__(self, "_templates", templates)

    def prepare(self) -> None:
        """Compile the templates, so that the first page does not wait for it."""
        for name in self._templates.list_templates():
            self._templates.get_template(name)
        rendered("")

    def language(self, request: Request) -> str:
        """`zh` for a browser that prefers Chinese to English, else `en`."""
        return preferred_language(request.headers.get("accept-language", ""))

    def texts(self, request: Request) -> Mapping[str, Mapping[str, str]]:
        """What the pages say in the browser's language."""
        return web_texts(self.language(request))

    def rendered(
        self, request: Request, template: str, status: int = 200, **values: object
    ) -> Response:
        """A page of a template; `channel`, where it is given, is the id of the one it is about."""
        values.setdefault("channel", "")
        html = self._templates.get_template(template).render(
            t=self.texts(request),
            language=self.language(request),
            workspace=self.pipimem.store.root.resolve().name,
            workspace_pages=() if self.only is not None else WORKSPACE_PAGES,
            channel_pages=CHANNEL_PAGES if self.only is None else (*CHANNEL_PAGES, COSTS),
            path=request.url.path,
            read_only=self.read_only,
            **values,
        )
        return HTMLResponse(html, status, headers={"vary": "accept-language"})

    async def channel(self, request: Request) -> Channel:
        """The channel that the query names. Raises `HTTPException` for none, and for a hidden one.

        Neither says whether there is one of that name.
        """
        name = request.query_params.get("id", self.only or "")
        if self.only is not None and name != self.only:
            raise HTTPException(404, "There is no such channel here.")
        try:
            return await self.pipimem.channel(name, create=False)
        except ChannelError as error:
            raise HTTPException(404, "There is no such channel here.") from error


def url(path: str, **query: object) -> str:
    """An address of ours; what is empty is left out of its query."""
    given = {name: str(value) for name, value in query.items() if value not in ("", None)}
    return f"{path}?{urlencode(given)}" if given else path


_FILE_OF = {
    Source.SESSION: File.SESSION,
    Source.MEMORY: File.MEMORY,
    Source.HISTORY: File.HISTORY,
}


def url_of_item(channel: str, item: Item, section: str = "", **query: object) -> str:
    """The page that tells more of what was found: the talk around it, or why an entry is there.

    Empty for an entry of the memory that all channels share: it stands in no file of this one.
    `section` tells entries of the same words apart.
    """
    source, _, name = item.id.partition(":")
    if source in _FILE_OF:
        file = _FILE_OF[Source(source)]
        return url("/entry", id=channel, file=file, section=section, entry=name)
    if source == Source.WORKSPACE:
        return ""
    message = name if source == Source.LOG else item.id  # a line of the archive has no other
    return url("/talk/around", id=channel, message=message, **query)


def preferred_language(header: str) -> str:
    """The language of ours that an Accept-Language header likes most; `en` without any."""
    best, found = 0.0, "en"
    for part in header.split(","):
        tag, _, quality = part.strip().lower().partition(";")
        language = tag.partition("-")[0].strip()
        weight = _quality(quality)
        if language in ("en", "zh") and weight > best:
            best, found = weight, language
    return found


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


def _day(when: datetime | None) -> str:
    return f"{when:%Y-%m-%d}" if when is not None else ""


def _minute(when: datetime | None) -> str:
    return f"{when:%Y-%m-%d %H:%M}" if when is not None else ""


def _moment(time: str) -> str:
    """An ISO 8601 time to the minute; what is none stays as it is."""
    try:
        return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M}"
    except ValueError:
        return time
