"""litellm's door: what it leaves alone, and what its errors become."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pipimem.errors import ModelUnavailable
from pipimem.sidecar.door import Ask, Turn
from pipimem.sidecar.litellm_door import LiteLLM

ASK = Ask("openai/gpt-5-mini", (Turn("user", "hi"),), 20, 10)

ALONE = """
import os, sys, logging, anyio
import pipimem.sidecar.assistant
from pipimem.sidecar.litellm_door import loaded
assert "litellm" not in sys.modules
before = dict(os.environ)
loaded()
assert dict(os.environ) == before, "the environment is left as it was"
assert not logging.getLogger("LiteLLM").handlers
assert os.environ.get("FROM_A_DOT_ENV") is None
"""


def test_loading_litellm_changes_nothing_around_it(tmp_path: Path) -> None:
    """No `.env` is taken in, no variable stays, no handler is added, nothing is printed."""
    (tmp_path / ".env").write_text("FROM_A_DOT_ENV=1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ALONE],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.anyio
async def test_without_a_key_the_variable_to_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request is needed to know that."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelUnavailable, match="set OPENAI_API_KEY"):
        await LiteLLM().complete(ASK)


@pytest.mark.anyio
async def test_a_name_without_a_provider_says_how_to_write_it() -> None:
    """`gpt` alone could be anybody's."""
    with pytest.raises(ModelUnavailable, match="write provider/model"):
        await LiteLLM().complete(Ask("nope", (Turn("user", "hi"),), 20, 10))
