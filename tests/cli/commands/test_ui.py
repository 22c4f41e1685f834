"""`pipimem ui` where its libraries are missing, or it would be open to a network; it is driven in
`tests/interfaces/web/` and, with a real browser, in `tests/browser/`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Call


def test_without_its_libraries_it_says_what_to_install(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are an extra."""
    for name in [name for name in sys.modules if name.startswith("pipimem.web.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("jinja2", "markdown_it", "nh3", "starlette", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    told = call("ui", "--no-browser")
    assert told.code == 1
    assert told.err == "pipimem: the web view needs its libraries: pip install 'pipimem[ui]'\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "memory.lan"])
def test_an_address_that_others_reach_is_refused(call: Call, host: str) -> None:
    """Until it is said that this is meant; and then not without a token of one's own."""
    told = call("ui", "--host", host)
    assert told.code == 2
    assert "--unencrypted-on-the-network" in " ".join(told.err.split())
    assert "ssh -L" in " ".join(told.err.split())
    told = call("ui", "--host", host, "--unencrypted-on-the-network")
    assert told.code == 2
    assert "demands a token of yours" in " ".join(told.err.split())


def test_a_token_that_is_too_short_is_refused(call: Call, tmp_path: Path) -> None:
    """Whatever address it listens at."""
    file = tmp_path / "token"
    file.write_text("short")
    file.chmod(0o600)
    told = call("ui", "--token-file", str(file))
    assert told.code == 1
    assert "16 characters or more" in told.err
