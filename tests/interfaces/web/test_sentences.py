"""Sentences of pipimem's in the language of a page."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pipimem
import pytest
from pipimem.resources import web_sentences
from pipimem.web.sentences import sentence

from tests.cases import each, table
from tests.interfaces.web.building import browsing

SOURCE = Path(pipimem.__file__).parent
SLOT = re.compile(r"\{\w+\}")


@each(
    ("english", "chinese"),
    table(__file__, "a_sentence_with_its_parts"),
)
def test_a_sentence_with_its_parts(english: str, chinese: str) -> None:
    """What varies in it is looked up in its turn."""
    assert sentence(english, "zh").startswith(chinese)
    assert sentence(english, "en") == english


def test_what_nobody_has_written_in_chinese_stays() -> None:
    """Also where a part of it is known."""
    assert sentence("offline: something else", "zh") == "offline: something else"
    assert sentence("{x} {0} %s", "zh") == "{x} {0} %s"


def test_every_sentence_is_one_that_pipimem_says() -> None:
    """A sentence that is reworded in the code needs its Chinese again: its words stand there."""
    said = "\n".join(map(_words_of, sorted(SOURCE.rglob("*.py"))))
    for english in _english():
        for words in SLOT.split(english):
            for clause in re.split(r"[;:,.()]", words):
                assert _is_said(clause.split(), said), english


def _is_said(words: list[str], said: str) -> bool:
    """Whether the words stand there, in one piece or in two."""
    return any(
        " ".join(words[:at]) in said and " ".join(words[at:]) in said
        for at in range(len(words) + 1)
    )


def _english() -> list[str]:
    foreign = {"Not Found"}  # of Starlette
    found = [english for group in web_sentences("zh").values() for english in group]
    return [english for english in found if english not in foreign]


def _words_of(path: Path) -> str:
    """All that a module says, in order."""
    constants = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    texts = [
        (node.lineno, node.col_offset, node.value)
        for node in constants
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return "".join(text for *_, text in sorted(texts))


@pytest.mark.anyio
async def test_the_chinese_pages_say_it_in_chinese(root: Path) -> None:
    """Health with what is wrong, and the changes with their reasons."""
    async with browsing(root, language="zh") as browser:
        await browser.channel.notes.remember("the port is 8080", speaker="Alice")
        browser.write("## Facts\n\n- the port is 8080\n- the port is 8080\n-\n")
        html = await browser.page("/health")
        for words in ("与第 3 行说的一样", "没有文字的条目", "MEMORY.md 第 4 行", "离线规则"):
            assert words in html
        assert str(root) not in html
        html = await browser.page("/changes")
        assert "有人要求" in html
        assert "记住" in html
        problem = await browser.get("/change", number="99")
        assert "没有变更 99" in problem.text
