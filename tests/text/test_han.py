"""Chinese characters: traditional ones read as simplified ones, and texts that read as Chinese."""

from __future__ import annotations

import pytest
from pipimem.text.han import is_chinese, simplified
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter


def test_both_ways_of_writing_are_one_word() -> None:
    """What was asked in one is found in the other."""
    words = Words(Segmenter())
    assert words.words("資料庫的備份時間") == words.words("资料库的备份时间")


def test_what_is_at_home_in_both_stays() -> None:
    """著名 is no 着名; text without traditional characters is handed back as it is."""
    assert simplified("著名的餐廳") == "著名的餐厅"
    assert simplified("乾隆 plain") == "乾隆 plain"


@pytest.mark.parametrize(
    "text", ["用 TypeScript 写 nimbus-gateway", "DB_POOL_SIZE 就定 120", "好", "周会改到 Tuesday"]
)
def test_a_text_reads_as_chinese(text: str) -> None:
    """Also with as many words of Latin letters in it; a name in code counts as one."""
    assert is_chinese(text)


@pytest.mark.parametrize("text", ["林晓 likes short answers", "plain", "2026-03-06", ""])
def test_a_name_makes_no_text_chinese(text: str) -> None:
    """Nor do digits, or nothing."""
    assert not is_chinese(text)
