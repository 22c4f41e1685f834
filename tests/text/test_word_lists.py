"""The lists that people mend, one item a line."""

from __future__ import annotations

from pathlib import Path

from pipimem import resources
from pipimem.text.word_lists import forms, simplified
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each

DATA = Path(resources.__file__).parent / "data"
LISTS = [
    *(f"words/{path.stem}" for path in sorted((DATA / "words").glob("*.txt"))),
    "secrets/no_secrets",
]


@each("name", LISTS)
def test_a_list_says_what_it_is_for_and_holds_each_item_once(name: str) -> None:
    """A comment stands at the top; no item is in a section twice or has white space at its ends."""
    assert (DATA / f"{name}.txt").read_text(encoding="utf-8").startswith("# ")
    sections = resources.sections(name).values()
    assert sum(map(len, sections)) > 10
    for items in sections:
        assert [item for item in items if item != item.strip() or items.count(item) > 1] == []


@each("name", ["irregular_forms", "kept_apart", "british_spelling"])
def test_a_form_stands_for_one_word(name: str) -> None:
    """A form on two lines would mean the word of the later one only."""
    lines = [line.replace(":", "").split() for line in resources.sections(f"words/{name}")[""]]
    assert sorted(forms(name)) == sorted(form for line in lines for form in line)


def test_both_ways_of_writing_are_one_word() -> None:
    """What was asked in one is found in the other."""
    words = Words(Segmenter())
    assert words.words("資料庫的備份時間") == words.words("资料库的备份时间")


def test_what_is_at_home_in_both_stays() -> None:
    """著名 is no 着名; text without traditional characters is handed back as it is."""
    assert simplified("著名的餐廳") == "著名的餐厅"
    assert simplified("乾隆 plain") == "乾隆 plain"
