"""`pipimem mcp` where its library is missing, or its options make no sense; it is driven in
`tests/interfaces/mcp/`.
"""

from __future__ import annotations

import sys

import pytest

from tests.cli.conftest import Call


def test_without_the_extra_it_says_how_to_get_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence."""
    for name in [name for name in sys.modules if name.startswith("pipimem.mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("mcp", "mcp_types", "starlette", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    told = call("mcp", "--channel", "room")
    assert (told.code, told.out) == (1, "")
    assert told.err == "pipimem: the MCP server needs its library: pip install 'pipimem[mcp]'\n"


@pytest.mark.parametrize("option", ["--port", "--host", "--allow-host", "--token-file"])
def test_options_of_http_need_http(call: Call, option: str) -> None:
    """Who gives them believes that a server listens."""
    value = {"--port": "8000", "--token-file": sys.executable}.get(option, "localhost")
    told = call("mcp", option, value)
    assert told.code == 2
    assert f"{option} goes with --http" in told.err
