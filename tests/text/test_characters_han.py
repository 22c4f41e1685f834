"""Texts that read as Chinese."""

from __future__ import annotations

from pipimem.text.characters import is_chinese

from tests.cases import each


@each(
    "text", ["用 TypeScript 写 nimbus-gateway", "DB_POOL_SIZE 就定 120", "好", "周会改到 Tuesday"]
)
def test_a_text_reads_as_chinese(text: str) -> None:
    """Also with as many words of Latin letters in it; a name in code counts as one."""
    assert is_chinese(text)


@each("text", ["林晓 likes short answers", "plain", "2026-03-06", ""])
def test_a_name_makes_no_text_chinese(text: str) -> None:
    """Nor do digits, or nothing."""
    assert not is_chinese(text)
