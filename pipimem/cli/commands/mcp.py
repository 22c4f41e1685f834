"""`pipimem mcp`: the memory as an MCP server, over standard input and output or HTTP."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from socket import socket
from typing import Literal

import click
from click.core import ParameterSource

from pipimem.cli.extras import needing_extra
from pipimem.cli.metrics import MetricsOptions, metrics_options
from pipimem.cli.options import Chosen, chosen, kind
from pipimem.cli.output import note
from pipimem.cli.running import opened_runtime, run
from pipimem.runtime.pipimem import Pipimem
from pipimem.serving.access import (
    Token,
    bound,
    host_headers,
    is_loopback,
    loopback_hosts,
    token_from,
)

_PORT = 8377
_LIBRARIES = ("mcp", "mcp_types", "starlette", "uvicorn")


@click.command("mcp")
@click.option(
    "--channel", metavar="C", help="Serve this channel alone; it is made where there is none."
)
@kind
@click.option(
    "--language",
    type=click.Choice(["en", "zh"]),
    default="en",
    show_default=True,
    help="What the model reads of tools and prompts.",
)
@click.option("--http", is_flag=True, help="Serve many clients over HTTP, each with the token.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address.")
@click.option(
    "--port", default=_PORT, show_default=True, help="With --http: the port; 0 for a free one."
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --http: a name under which clients reach it, besides loopback.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="With --http: a file of mode 0600 with the token; else PIPIMEM_MCP_TOKEN, else a new one.",
)
@metrics_options
@click.pass_context
@chosen
def command(
    chosen: Chosen,
    context: click.Context,
    channel: str | None,
    kind: str,
    language: str,
    http: bool,
    host: str,
    port: int,
    names: tuple[str, ...],
    token_file: Path | None,
    metrics: MetricsOptions,
) -> None:
    """Serve the memory to an MCP client.

    Without --http one client talks over standard input and output, and its end is the server's.
    Ctrl-C or SIGTERM ends it, too. It does the idle work of the workspace where no other process
    does.
    """
    if not http:
        _refuse_options_of_http(context)
    with needing_extra("mcp", _LIBRARIES, "the MCP server needs its library"):
        # A second of imports, and they may be missing.
        from pipimem.mcp import server, serving

    async def serve() -> None:
        async with opened_runtime(chosen, settings=chosen.settings(idle=True)) as pipimem:
            if channel is not None:
                await pipimem.channel(channel, kind="group" if kind == "group" else "dm")
            words: Literal["en", "zh"] = "zh" if language == "zh" else "en"
            memory = server.MemoryServer(pipimem, only=channel, language=words)
            async with metrics.served(pipimem):
                if http:
                    token = token_from(token_file, os.environ, serving.VARIABLE)
                    serve_on = partial(serving.serve_on, memory)
                    await _serve_http(serve_on, serving.PATH, pipimem, host, port, names, token)
                else:
                    await serving.serve_stdio(memory)

    run(serve)


def _refuse_options_of_http(context: click.Context) -> None:
    """Raises `UsageError`: who gives them believes that a server listens."""
    for option in context.command.params:
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and "With --http" in (getattr(option, "help", "") or ""):
            raise click.UsageError(f"{option.opts[0]} goes with --http")


async def _serve_http(
    serve_on: Callable[[socket, Token, list[str]], Awaitable[None]],
    path: str,
    pipimem: Pipimem,
    host: str,
    port: int,
    names: tuple[str, ...],
    token: Token,
) -> None:
    with bound(host, port) as listening:
        taken = listening.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        note(f"serving {pipimem.store.root} at http://{shown}:{taken}{path}")
        if not is_loopback(host):
            note("other machines reach it, and nothing encrypts what they send or read")
        if token.is_generated:
            note(f"the token of this start: {token.value}")
        hosts = [*loopback_hosts(taken), *host_headers([shown, *names], taken)]
        await serve_on(listening, token, hosts)
    note("stopped; the files are whole")
