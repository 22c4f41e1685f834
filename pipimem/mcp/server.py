"""The MCP server of a workspace: what it answers, whichever transport carries it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from pipimem import __version__
from pipimem.errors import PipimemError, StoreError, described
from pipimem.mcp.prompts import listed_prompts, prompt_text
from pipimem.mcp.resources import MemoryResources
from pipimem.mcp.tools import MemoryTools
from pipimem.mcp.updates import ResourceUpdates
from pipimem.mcp.uris import NAMES, ResourceUri
from pipimem.resources import mcp_texts
from pipimem.runtime.tools.definitions import Language

if TYPE_CHECKING:
    from pipimem.runtime.pipimem import Pipimem

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
