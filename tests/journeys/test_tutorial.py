"""The bot of docs/tutorial.md, in both languages, run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def _bot(page: Path) -> str:
    found = re.search(r"```python\n(import anyio.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def _said(page: Path) -> list[list[str]]:
    """What the page types into the bot, session by session."""
    sessions = []
    for block in re.findall(r"```\n\$ python bot.py\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        lines = [re.split(r"you:|你：", line)[1].strip() for line in block.splitlines()]
        sessions.append([line for line in lines if line])
    return sessions


@pytest.mark.parametrize(
    ("name", "kept"),
    [("tutorial.md", ("seven", "peanuts")), ("tutorial.zh-CN.md", ("七点", "花生"))],
    ids=["en", "zh"],
)
def test_the_bot_of_the_tutorial_remembers(
    tmp_path: Path, name: str, kept: tuple[str, str]
) -> None:
    """What it was told in step 3 stands in MEMORY.md, and is given to it in step 5."""
    (tmp_path / "bot.py").write_text(_bot(DOCS / name), "utf-8")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "pipimem.toml").write_text("", "utf-8")

    def run(lines: list[str]) -> str:
        done = subprocess.run(
            [sys.executable, "bot.py"],
            cwd=tmp_path,
            input="\n".join([*lines, "", ""]),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    told, asked = _said(DOCS / name)
    run(told)
    memory = (tmp_path / "workspace" / "channels" / "kitchen" / "MEMORY.md").read_text("utf-8")
    assert all(word in memory for word in kept)
    # One answer a question: the second stands on its own.
    first, second = run([asked[0], asked[1]]).split("you:" if "zh" not in name else "你：")[1:3]
    assert kept[1] in first
    assert kept[0] in second
