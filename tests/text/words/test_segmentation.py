"""Han is cut into the words jieba finds, though only parts of its dictionary are read."""

from __future__ import annotations

import marshal
import os
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.text.word_lists import by_first_character
from pipimem.text.words import segmentation
from pipimem.text.words.segmentation import Segmenter

TESTS = Path(__file__).parents[2]
TEXTS = (".py", ".md", ".jsonl", ".txt")
OURS = [
    word for words in by_first_character().values() for word in words
]  # these win over jieba's, and are meant to

SENTENCES = [
    "今晚的上线窗口是什么时候",
    "我们决定把发布时间改到下周四",
    "我来到北京清华大学",
    "他来到了网易杭研大厦",
    "小明硕士毕业于中国科学院计算所后在日本京都大学深造",
    "结婚的和尚未结婚的",
    "工信处女干事每月经过下属科室都要亲口交代交换机等技术性器件的安装工作",
    "永和服装饰品有限公司",
    "李小福是创新办主任也是云计算方面的专家",
    "我养了一只猫叫小黑它不吃香菜",
    "龘靐齉爩麤",
    "一",
]


@pytest.fixture(scope="module")
def segmenter() -> Segmenter:
    return Segmenter()


@pytest.fixture(scope="module")
def jieba(tmp_path_factory: pytest.TempPathFactory):
    """jieba as it is, with its whole dictionary and its cache where nobody else sees it, as the
    judge.
    """
    Segmenter().cut("一")  # imports jieba quietly
    import jieba

    jieba.setLogLevel(60)
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = str(tmp_path_factory.mktemp("jieba"))
    tokenizer.initialize()
    return tokenizer


def for_search(segmenter: Segmenter, text: str) -> list[str]:
    """The words, each long one preceded by the shorter words it holds: what jieba's mode for
    search gives.
    """
    return [found for word in segmenter.cut(text) for found in (*segmenter.inner(word), word)]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_are_cut_as_jieba_cuts_them(sentence, segmenter, jieba):
    """Both modes give jieba's words, names it has never seen included."""
    assert segmenter.cut(sentence) == jieba.lcut(sentence)
    assert for_search(segmenter, sentence) == jieba.lcut_for_search(sentence)


@pytest.mark.slow
def test_thousands_of_random_runs_are_cut_as_jieba_cuts_them(segmenter, jieba):
    """Words of the dictionary in any order, and characters in any order, are cut alike."""
    chance = random.Random(42)
    words = [word for word in jieba.FREQ if all("\u4e00" <= c <= "\u9fd5" for c in word)]
    runs = ["".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(1500)]
    runs += [
        "".join(chr(chance.randint(0x4E00, 0x9FD5)) for _ in range(chance.randint(1, 12)))
        for _ in range(500)
    ]
    runs = [run for run in runs if not any(word in run for word in OURS)]
    different = [run for run in runs if segmenter.cut(run) != jieba.lcut(run)]
    assert different == []
    assert [run for run in runs if for_search(segmenter, run) != jieba.lcut_for_search(run)] == []


@pytest.mark.slow
def test_lines_people_wrote_are_cut_as_jieba_cuts_them(jieba):
    """All Han of our own cases and sources, met in the order of the files by a segmenter that
    begins with nothing.
    """
    folders = [TESTS, *(TESTS.parent / name for name in ("benchmarks", "pipimem", "thesaurus"))]
    files = [
        path for folder in folders for path in sorted(folder.rglob("*.*")) if path.suffix in TEXTS
    ]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    runs = [
        run
        for run in dict.fromkeys(re.findall(r"[\u4e00-\u9fff]+", text))
        if not any(word in run for word in OURS)
    ]
    assert len(runs) > 3_000
    fresh = Segmenter()
    assert [run for run in runs if fresh.cut(run) != jieba.lcut(run)] == []
    assert [run for run in runs if for_search(fresh, run) != jieba.lcut_for_search(run)] == []


@pytest.mark.slow
def test_the_dictionary_is_sorted_as_it_is_read(jieba):
    """Read character by character it says what it says whole: no line stands where it is not
    looked for.
    """
    every = Segmenter()
    every.cut("".join(map(chr, range(0x4E00, 0x9FD6))))
    read = every._tokenizer
    ours = {word[:end] for word in OURS for end in range(1, len(word) + 1)}
    different = [
        word
        for word in jieba.FREQ.keys() | read.FREQ.keys()
        if read.FREQ.get(word) != jieba.FREQ.get(word)
    ]
    assert [
        word for word in different if word not in ours and "\u4e00" <= word[0] <= "\u9fd5"
    ] == []
    assert read.total == jieba.total


def test_all_segmenters_share_one_dictionary():
    """Its 5 MB are in memory once, however many workspaces are open."""
    one, other = Segmenter(), Segmenter()
    assert one.cut("今晚") == other.cut("今晚")
    assert one._lines is other._lines


def test_another_dictionary_is_read_whole(segmenter, monkeypatch):
    """One of another size may be in any order."""
    monkeypatch.setattr(segmentation, "_SORTED_SIZE", 1)
    other = Segmenter()
    assert [other.cut(sentence) for sentence in SENTENCES] == [
        segmenter.cut(sentence) for sentence in SENTENCES
    ]


@settings(deadline=None)  # the first text opens the dictionary
@given(st.text(alphabet=st.characters(min_codepoint=0x3000, max_codepoint=0xA000), max_size=30))
def test_words_joined_are_the_text(text):
    """Nothing is dropped, whatever the characters."""
    assert "".join(SHARED.cut(text)) == text


SHARED = Segmenter()  # opened at the first example, never at import


def test_added_words_win_over_their_parts():
    """A domain word is found whole, its parts stay findable, and other segmenters do not hear of
    it.
    """
    taught = Segmenter()
    assert taught.cut("今晚的上线窗口") == ["今晚", "的", "上线", "窗口"]
    taught.add_words(["上线窗口", "x", "not han"])
    assert taught.cut("今晚的上线窗口") == ["今晚", "的", "上线窗口"]
    assert for_search(taught, "上线窗口") == ["上线", "窗口", "上线窗口"]
    assert taught.knows("上线窗口")
    assert Segmenter().cut("上线窗口") == ["上线", "窗口"]


def test_a_host_that_uses_jieba_keeps_its_own_words(jieba):
    """Neither what is read nor what is added reaches the tokenizer that jieba's functions share."""
    import jieba as module

    taught = Segmenter()
    taught.add_words(["上线窗口"])
    assert taught.cut("上线窗口") == ["上线窗口"]
    assert module.dt.FREQ == {}
    assert not module.dt.initialized


def test_threads_share_a_segmenter(segmenter):
    """Four threads that start at once on a cold segmenter all get the right words."""
    shared = Segmenter()
    results: list[list[list[str]]] = []
    threads = [
        threading.Thread(
            target=lambda: results.append([shared.cut(sentence) for sentence in SENTENCES])
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[segmenter.cut(sentence) for sentence in SENTENCES]] * 4


def test_a_planted_cache_in_the_shared_folder_is_not_believed(tmp_path):
    """jieba's own file there is neither read nor written, nothing is said on any stream, and
    setuptools can be used.
    """
    planted = marshal.dumps(({"上线窗口": 10**9, "上": 1, "上线": 1, "上线窗": 0}, 10**9))
    (tmp_path / "jieba.cache").write_bytes(planted)
    code = (
        "import sys\n"
        "from pipimem.text.words.segmentation import Segmenter\n"
        "assert 'jieba' not in sys.modules\n"
        "assert Segmenter().cut('上线窗口') == ['上线', '窗口']\n"
        "assert 'jieba' in sys.modules\n"
        "assert 'pkg_resources' not in sys.modules"
    )
    environment = {
        **os.environ,
        "TMPDIR": str(tmp_path),
        "TEMP": str(tmp_path),
        "PYTHONWARNINGS": "always",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert (tmp_path / "jieba.cache").read_bytes() == planted


def test_each_word_stays_whole_in_a_sentence() -> None:
    """Also between other words; and what it is made of can still be found."""
    segmenter = Segmenter()
    every = [word for words in by_first_character().values() for word in words]
    assert [word for word in every if word not in segmenter.cut(f"我们在{word}以后再说")] == []
    assert segmenter.inner("消息队列") == ["消息", "队列"]
