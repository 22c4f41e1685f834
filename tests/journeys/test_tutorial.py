"""The bot of docs/tutorial.md, in both languages, run as it stands there."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path

import anyio
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


YOUR_LLM = '''
messages = []


async def your_llm(messages):
    """Says all that the model has in its context."""
    return "\\n".join(one["content"] for one in messages)


'''


def _that_keeps_its_context(page: Path) -> str:
    """The page's bot with the page's lines for a host that leaves the blocks where they are."""
    blocks = re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (block,) = [one for one in blocks if "keeps_context=True" in one]
    opening, _, *kept = textwrap.dedent(block).splitlines()
    lines = []
    for line in _bot(page).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if 'async with Pipimem("workspace")' in line:
            lines.append(indent + opening)
        elif "await model(" in line:
            lines += [indent + each.strip() for each in kept]
        else:
            lines.append(line)
    bot = "\n".join(lines)
    assert all(each.strip() in bot for each in (opening, *kept))
    return bot.replace("async def main()", f"{YOUR_LLM}async def main()")


def _talked(
    source: str, typed: list[str], backend: str, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What a bot answers to lines that are typed; it runs here, on the event loop of a name."""
    waiting, answers = [*typed, ""], []
    monkeypatch.setattr(builtins, "input", lambda _: waiting.pop(0))
    monkeypatch.setattr(builtins, "print", lambda _, answer: answers.append(answer))
    with monkeypatch.context() as loop:
        loop.setattr(anyio, "run", partial(anyio.run, backend=backend))
        exec(compile(source, "bot.py", "exec"), {"__name__": "bot"})
    assert waiting == []
    return answers


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("host", [_bot, _that_keeps_its_context], ids=["rebuilds", "keeps"])
@pytest.mark.parametrize("name", ["tutorial.md", "tutorial.zh-CN.md"], ids=["en", "zh"])
def test_both_hosts_answer_from_memory_on_the_tenth_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, host: object, backend: str
) -> None:
    """One that makes its prompt anew, and one that keeps what it was shown: never shown twice."""
    page = DOCS / name
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "pipimem.toml").write_text("", "utf-8")
    monkeypatch.chdir(tmp_path)
    told, asked = _said(page)
    source = host(page)  # type: ignore[operator]
    talked = partial(_talked, source, backend=backend, monkeypatch=monkeypatch)
    talked(typed=told)
    talk = [f"recipe {number} is in the oven" for number in range(9)]
    answers = talked(typed=[*talk, asked[0]])
    assert len(answers) == 10
    kept = "花生" if "zh" in name else "peanuts"
    said_of_it = [line for line in answers[-1].splitlines() if kept in line]
    from_memory = [line for line in said_of_it if line != asked[0]]
    assert len(from_memory) >= 1
    if host is _that_keeps_its_context:
        assert len(from_memory) == len(set(from_memory))
