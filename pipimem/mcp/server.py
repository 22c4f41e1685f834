"""The MCP server of a workspace: what it answers, whichever transport carries it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
    Tool,
    ToolAnnotations,
)

from pipimem import __version__
from pipimem.errors import (
    ArgumentError,
    NothingFound,
    PipimemError,
    StoreError,
    described,
    require_one_of,
)
from pipimem.mcp.resources import NAMES, MemoryResources, ResourceUri
from pipimem.mcp.updates import ResourceUpdates
from pipimem.resources import mcp_texts
from pipimem.runtime.debug_lines import debug_line
from pipimem.runtime.tools.calls import ToolResult, refused
from pipimem.runtime.tools.definitions import (
    ALIASES,
    CHANNEL,
    LANGUAGES,
    Language,
    definitions,
    tool_named,
)

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem


# Clients check each answer against its schema, in Python at 30 µs a value: that of a hit names what
# it has, and says in words of what types.
_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def _list(description: str, *required: str) -> dict[str, Any]:
    items = {"type": "object", "required": list(required)}
    return {"type": "array", "items": items, "description": description}


_HITS = _list(
    "Each has its id, its text, and its source: an object with file, section, messages (a list of "
    "ids), date and speaker, without what is not known.",
    "id",
    "text",
    "source",
)
_WHOLE = _list(
    "For each id its text and its source, with the trust and the messages of an entry; or an "
    "error, and of which id."
)
_CHANGE = _object(
    {"done": _TEXT, "id": _TEXT, "before": _TEXT, "after": _TEXT, "section": _TEXT}, "done", "id"
)
_CHANGED = {"changes": {"type": "array", "items": _CHANGE}, "note": _TEXT}
_SAVED = {**_CHANGED, "similar": _HITS}
_EACH = _list(
    "Of several calls in one: for each what it answers alone, or an error, and of which item."
)

OUTPUT_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "memory_search": _object({"hits": _HITS, "messages": _HITS, "results": _WHOLE, "note": _TEXT}),
    "memory_save": _object({**_SAVED, "results": _EACH}),
    "memory_update": _object({**_CHANGED, "results": _EACH}),
    "memory_forget": _object(
        {"would_take_out": _HITS, "taken_out": _TEXTS, "results": _EACH, "note": _TEXT}
    ),
    "memory_feedback": _object({**_CHANGED, "id": _TEXT, "results": _EACH}),
}
"""By tool; a call that could not be carried out has no structured result."""


@dataclass(frozen=True, slots=True)
class MemoryTools:
    """The tools of all conversations of a workspace, or of the one channel `only`."""

    pipimem: Pipimem
    language: Language = "en"
    only: str | None = None

    def listed(self) -> list[Tool]:
        """The tools with their schemas, and what a host may know of them before it asks."""
        texts = definitions("anthropic", self.language, with_channel=self.only is None)
        return [_listed(text) for text in texts]

    def changed(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The id of the channel whose memory a call that went well may have changed, else empty."""
        if name == "memory_search":
            return ""
        return str(arguments[CHANNEL]) if self.only is None else self.only

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Carry out a call; whatever is wrong with it stands in the result."""
        began = time.perf_counter()
        try:
            result = await self._called(name, arguments)
        except (PipimemError, OSError) as error:
            result = refused(error)
        milliseconds = (time.perf_counter() - began) * 1000
        debug_line(f"mcp {_known(name)}: {milliseconds:.2f} ms")
        return _answer(result)

    async def _called(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if self.only is None:
            return await self.pipimem.call_tool(name, arguments)
        if CHANNEL in arguments:
            return refused(
                ArgumentError(
                    "This server serves one conversation alone: leave 'channel' out. "
                    "Nothing was done."
                )
            )
        channel = await self.pipimem.channel(self.only)
        return await channel.call_tool(name, arguments)


def _known(name: str) -> str:
    """A name as it may stand in a line."""
    return name if name in OUTPUT_SCHEMAS or name in ALIASES else "unknown tool"


def _listed(text: Mapping[str, Any]) -> Tool:
    tool = tool_named(text["name"])
    return Tool(
        name=tool.name,
        description=text["description"],
        input_schema=text["input_schema"],
        output_schema=OUTPUT_SCHEMAS[tool.name],
        annotations=ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _answer(result: ToolResult) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(text=result.text)],
        structured_content=None if result.is_error else result.value,
        is_error=result.is_error,
    )


PROMPTS = ("when_to_search", "when_to_save", "when_to_stay_silent")
_LANGUAGE = "language"


def listed_prompts(language: str) -> list[Prompt]:
    """The prompts, described in a language; each can be had in the other one, too."""
    texts = mcp_texts(language)
    argument = PromptArgument(name=_LANGUAGE, description=texts["prompts"][_LANGUAGE])
    return [
        Prompt(
            name=name,
            title=texts[name]["title"],
            description=texts[name]["about"],
            arguments=[argument],
        )
        for name in PROMPTS
    ]


def prompt_text(name: str, arguments: Mapping[str, str], language: str) -> GetPromptResult:
    """One prompt, in the language of the arguments, else in the server's.

    Raises `NothingFound` for an unknown prompt, `ArgumentError` for an unknown argument or
    language.
    """
    if name not in PROMPTS:
        raise NothingFound(f"There is no prompt {name!r}. There are {', '.join(PROMPTS)}.")
    unknown = [key for key in arguments if key != _LANGUAGE]
    if unknown:
        raise ArgumentError(f"{name} takes {_LANGUAGE} alone, not {', '.join(unknown)}.")
    chosen = arguments.get(_LANGUAGE, language)
    require_one_of(chosen, LANGUAGES, _LANGUAGE)
    texts = mcp_texts(chosen)[name]
    content = TextContent(text=texts["text"].strip())
    return GetPromptResult(
        description=texts["about"], messages=[PromptMessage(role="user", content=content)]
    )


_Context = ServerRequestContext[Any, Any]
# What cannot change while the server runs. What can is fresh at each read.
_HOUR = CacheHint(ttl_ms=3_600_000)


class MemoryServer:
    """The tools, resources and prompts of a workspace, or of the one channel `only`."""

    def __init__(
        self, pipimem: Pipimem, *, only: str | None = None, language: Language = "en"
    ) -> None:
        self.pipimem = pipimem
        self.language = language
        self.tools = MemoryTools(pipimem, language, only)
        self.resources = MemoryResources(pipimem, only)
        self.updates = ResourceUpdates(self.resources)
        self._listeners = ListenHandler(self.updates.bus)
        self._texts = mcp_texts(language)
        self._schemas = {tool.name: tool.input_schema for tool in self.tools.listed()}

    def server(self) -> Server[None]:
        """The server for one transport; it watches the files while it runs."""
        return Server(
            "pipimem",
            version=__version__,
            instructions=self._texts["server"]["instructions"],
            lifespan=self._running,
            cache_hints={
                "tools/list": _HOUR,
                "prompts/list": _HOUR,
                "resources/templates/list": _HOUR,
            },
            get_tool_input_schema=self._schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def close(self) -> None:
        """End the streams of those who listen, so that the transport can end."""
        self._listeners.close()

    @asynccontextmanager
    async def _running(self, _server: Server[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.updates.run)
            yield
            tasks.cancel_scope.cancel()

    # ── tools ─────────────────────────────────────────────────────────────────────────────────────

    async def _list_tools(
        self, _context: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=self.tools.listed())

    async def _call_tool(
        self, _context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        result = await self.tools.call(params.name, arguments)
        channel = "" if result.is_error else self.tools.changed(params.name, arguments)
        if channel:
            self.updates.changed(self.pipimem.store.folder_of(channel).name)
        return result

    # ── resources ─────────────────────────────────────────────────────────────────────────────────

    async def _list_resources(
        self, _context: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        after = params.cursor if params and params.cursor else ""
        found, last = await self.resources.listed(after)
        listed = [self._listed(uri) for uri in found]
        return types.ListResourcesResult(resources=listed, next_cursor=last or None)

    def _listed(self, uri: ResourceUri) -> types.Resource:
        texts = self._texts["resources"]
        name = "workspace" if uri.channel is None else NAMES[uri.file]
        return types.Resource(
            uri=str(uri),
            name=f"{uri.channel or 'workspace'} {uri.file}",
            description=texts[name],
            mime_type=uri.mime_type,
        )

    async def _list_templates(
        self, _context: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        texts = self._texts["resources"]
        forms = [(name, f"pipimem://{{channel}}/{name}") for name in NAMES.values()]
        listed = [
            types.ResourceTemplate(
                uri_template=form, name=name, description=texts[name], mime_type="text/markdown"
            )
            for name, form in forms
        ]
        listed.append(
            types.ResourceTemplate(
                uri_template="pipimem://{channel}/memory/{section}",
                name="section",
                description=texts["section"],
                mime_type="application/json",
            )
        )
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def _read_resource(
        self, _context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            found = await self.resources.read(params.uri)
        except (PipimemError, OSError) as error:
            _refuse(error)
        content = types.TextResourceContents(
            uri=str(found.uri), mime_type=found.uri.mime_type, text=found.text
        )
        return types.ReadResourceResult(contents=[content])

    async def _subscribe(
        self, context: _Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        try:
            await self.updates.subscribe(context.session, params.uri)
        except (PipimemError, OSError) as error:
            _refuse(error)
        return types.EmptyResult()

    async def _unsubscribe(
        self, context: _Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self.updates.unsubscribe(context.session, params.uri)
        return types.EmptyResult()

    async def _listen(
        self, context: _Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = list(dict.fromkeys(params.notifications.resource_subscriptions or ()))
        try:
            following = await self.updates.follow(wanted)
        except (PipimemError, OSError) as error:
            _refuse(error)
        with following:
            return await self._listeners(context, params)

    # ── prompts ───────────────────────────────────────────────────────────────────────────────────

    async def _list_prompts(
        self, _context: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=listed_prompts(self.language))

    async def _get_prompt(
        self, _context: _Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        try:
            return prompt_text(params.name, params.arguments or {}, self.language)
        except PipimemError as error:
            _refuse(error)


def _refuse(error: Exception) -> NoReturn:
    """Raises the error as the protocol has it."""
    is_ours = isinstance(error, (StoreError, OSError))
    code = types.INTERNAL_ERROR if is_ours else types.INVALID_PARAMS
    raise MCPError(code, described(error)) from error
