"""`pipimem ui`: the memory as pages in a browser."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from html import escape
from pathlib import Path

import click

from pipimem.cli.extras import needing_extra
from pipimem.cli.metrics import MetricsOptions, metrics_options
from pipimem.cli.options import Chosen, chosen
from pipimem.cli.output import note
from pipimem.cli.running import opened_runtime, run
from pipimem.runtime.pipimem import Pipimem
from pipimem.serving.access import bound, host_headers, is_loopback, loopback_hosts, token_from

_PORT = 8378
_VARIABLE = "PIPIMEM_UI_TOKEN"
_LIBRARIES = ("jinja2", "markdown_it", "markupsafe", "nh3", "starlette", "uvicorn")
_UNENCRYPTED = "--unencrypted-on-the-network"


@click.command("ui")
@click.option("--channel", metavar="C", help="Show and edit this channel alone.")
@click.option("--read-only", is_flag=True, help="Look, and change nothing.")
@click.option("--port", default=_PORT, show_default=True, help="The port; 0 for a free one.")
@click.option("--no-browser", is_flag=True, help="Only tell the address; open no browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="A name for it besides loopback."
)
@click.option(
    _UNENCRYPTED,
    "is_unencrypted",
    is_flag=True,
    help="With another --host than loopback: I know that whoever is on that network can read and "
    "change what goes over it. It demands a token of yours.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of mode 0600 with the token; else PIPIMEM_UI_TOKEN, else a new one each start.",
)
@metrics_options
@chosen
def command(
    chosen: Chosen,
    channel: str | None,
    read_only: bool,
    port: int,
    no_browser: bool,
    host: str,
    names: tuple[str, ...],
    is_unencrypted: bool,
    token_file: Path | None,
    metrics: MetricsOptions,
) -> None:
    """Look at the memory in a browser, and edit it there.

    It listens on this machine alone, and the address has a token. Ctrl-C or SIGTERM ends it. It
    does no idle work: that is the bot's, or `pipimem watch`.
    """
    token = token_from(token_file, os.environ, _VARIABLE)
    if not is_loopback(host):
        _refuse_unsafe(host, is_unencrypted=is_unencrypted, is_generated=token.is_generated)
    with needing_extra("ui", _LIBRARIES, "the web view needs its libraries"):
        # Half a second, and the libraries may be missing.
        from pipimem.web import application, pages

    async def serve() -> None:
        async with opened_runtime(chosen) as pipimem:
            await _require_channel(pipimem, channel)
            with bound(host, port) as listening:
                taken = listening.getsockname()[1]
                shown = f"[{host}]" if ":" in host else host
                address = f"http://{shown}:{taken}/#token={token.value}"
                reached_at = _shown_address(address, token.is_generated)
                note(f"looking at {pipimem.store.root}: {reached_at}")
                hosts = [*loopback_hosts(taken), *host_headers([shown, *names], taken)]
                shown_pages = pages.Pages(pipimem, channel, read_only)
                async with metrics.served(pipimem):
                    with nullcontext() if no_browser else opened_in_browser(address):
                        await application.serve_pages(shown_pages, listening, token, hosts)
        note("stopped; the files are whole")

    run(serve)


@contextmanager
def opened_in_browser(address: str) -> Iterator[None]:
    """The browser is sent to `address` by a file that only this user reads, deleted at the end.

    On its command line, which every user of the machine can read, the address would show the token.
    """
    with tempfile.TemporaryDirectory(prefix="pipimem-ui-") as folder:
        page = Path(folder) / "open.html"
        page.touch(mode=0o600)
        target = escape(address, quote=True)
        page.write_text(
            f'<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0;url={target}"><title>pipimem</title>',
            encoding="utf-8",
        )
        webbrowser.open(page.as_uri())
        yield


def _refuse_unsafe(host: str, *, is_unencrypted: bool, is_generated: bool) -> None:
    """Raises `UsageError` for an address that others reach without saying that this is meant."""
    if not is_unencrypted:
        raise click.UsageError(
            f"others reach {host}, and nothing encrypts what they send or read: use an SSH tunnel "
            f"(ssh -L 8378:127.0.0.1:8378 HOST), or say {_UNENCRYPTED}"
        )
    if is_generated:
        raise click.UsageError(
            f"{_UNENCRYPTED} demands a token of yours: --token-file, or PIPIMEM_UI_TOKEN"
        )


def _shown_address(address: str, is_generated: bool) -> str:
    """The address for the terminal; a token that the operator gave is not shown again."""
    return address if is_generated else f"{address.partition('#')[0]}#token=…"


async def _require_channel(pipimem: Pipimem, channel: str | None) -> None:
    """Raises `ChannelError` where the one channel to be shown is unknown."""
    if channel is not None:
        await pipimem.channel(channel, create=False)
