"""Traditional characters read as simplified ones."""

from __future__ import annotations

from pipimem.text.segmentation import Segmenter
from pipimem.text.traditional import simplified
from pipimem.text.words import Words


def test_both_ways_of_writing_are_one_word() -> None:
    """What was asked in one is found in the other."""
    words = Words(Segmenter())
    assert words.words("資料庫的備份時間") == words.words("资料库的备份时间")


def test_what_is_at_home_in_both_stays() -> None:
    """著名 is no 着名; text without traditional characters is handed back as it is."""
    assert simplified("著名的餐廳") == "著名的餐厅"
    assert simplified("乾隆 plain") == "乾隆 plain"
