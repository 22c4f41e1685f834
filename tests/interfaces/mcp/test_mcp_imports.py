"""With the libraries installed, `import pipimem` and the command line load none of them."""

from __future__ import annotations

import subprocess
import sys

from tests.cases import each

LIBRARIES = ("mcp", "mcp_types", "starlette", "uvicorn", "pydantic", "httpx2", "pipimem.mcp")
COMMANDS = (
    "from pipimem.cli.commands import pipimem; [pipimem.get_command(None, name) for name in "
    "pipimem.list_commands(None)]"
)


@each("statement", ["from pipimem import *", COMMANDS])
def test_nothing_of_the_server_is_loaded(statement: str) -> None:
    """Not with the front door, nor with the command line and its help."""
    told = f"print(*[name for name in {LIBRARIES!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; {told}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == []
