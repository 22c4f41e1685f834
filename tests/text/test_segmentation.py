"""Han is cut into the words jieba finds, without jieba's price."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.dictionary import CACHE_NAME
from pipimem.text.domain_words import BY_FIRST_CHARACTER
from pipimem.text.segmentation import Segmenter

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
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("words")


@pytest.fixture(scope="module")
def segmenter(cache: Path) -> Segmenter:
    return Segmenter(cache)


@pytest.fixture(scope="module")
def jieba(tmp_path_factory: pytest.TempPathFactory):
    """jieba itself, with its cache where nobody else sees it, as the judge."""
    before = sys.modules.get("pkg_resources")
    sys.modules["pkg_resources"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import jieba
    finally:
        del sys.modules["pkg_resources"]
        if before is not None:
            sys.modules["pkg_resources"] = before
    jieba.setLogLevel(60)
    tokenizer = jieba.Tokenizer()
    tokenizer.tmp_dir = str(tmp_path_factory.mktemp("jieba"))
    tokenizer.initialize()
    return tokenizer


def for_search(segmenter: Segmenter, text: str) -> list[str]:
    """The words, each long one preceded by the shorter words it holds: what jieba's mode for search gives."""
    return [found for word in segmenter.cut(text) for found in (*segmenter.inner(word), word)]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_sentences_are_cut_as_jieba_cuts_them(sentence, segmenter, jieba):
    """Both modes give jieba's words, names it has never seen included."""
    assert segmenter.cut(sentence) == jieba.lcut(sentence)
    assert for_search(segmenter, sentence) == jieba.lcut_for_search(sentence)


def test_thousands_of_random_runs_are_cut_as_jieba_cuts_them(segmenter, jieba):
    """Words of the dictionary in any order, and characters in any order, are cut alike."""
    chance = random.Random(42)
    words = [word for word in jieba.FREQ if all("\u4e00" <= c <= "\u9fd5" for c in word)]
    runs = ["".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(1500)]
    runs += ["".join(chr(chance.randint(0x4E00, 0x9FD5)) for _ in range(chance.randint(1, 12))) for _ in range(500)]
    ours = [word for words in BY_FIRST_CHARACTER.values() for word in words]  # these win over jieba's, and are meant to
    runs = [run for run in runs if not any(word in run for word in ours)]
    different = [run for run in runs if segmenter.cut(run) != jieba.lcut(run)]
    assert different == []
    assert [run for run in runs if for_search(segmenter, run) != jieba.lcut_for_search(run)] == []


@given(st.text(alphabet=st.characters(min_codepoint=0x3000, max_codepoint=0xA000), max_size=30))
def test_words_joined_are_the_text(text):
    """Nothing is dropped, whatever the characters."""
    assert "".join(SHARED.cut(text)) == text


SHARED = Segmenter(None)  # opened at the first example, never at import


@pytest.fixture(autouse=True)
def _shared_lives_in_the_cache(cache: Path):
    SHARED._cache_dir = cache


def test_added_words_win_over_their_parts(cache):
    """A domain word is found whole, its parts stay findable, and other segmenters do not hear of it."""
    taught = Segmenter(cache)
    assert taught.cut("今晚的上线窗口") == ["今晚", "的", "上线", "窗口"]
    taught.add_words(["上线窗口", "x", "not han"])
    assert taught.cut("今晚的上线窗口") == ["今晚", "的", "上线窗口"]
    assert for_search(taught, "上线窗口") == ["上线", "窗口", "上线窗口"]
    assert taught.knows("上线窗口")
    assert Segmenter(cache).cut("上线窗口") == ["上线", "窗口"]


def test_loading_all_changes_no_result(cache, segmenter):
    """With the whole dictionary at hand the words are the same."""
    whole = Segmenter(cache)
    whole.load_all()
    assert [whole.cut(sentence) for sentence in SENTENCES] == [segmenter.cut(sentence) for sentence in SENTENCES]


def test_threads_share_a_segmenter(cache, segmenter):
    """Four threads that start at once on a cold segmenter all get the right words."""
    shared = Segmenter(cache)
    results: list[list[list[str]]] = []
    threads = [
        threading.Thread(target=lambda: results.append([shared.cut(sentence) for sentence in SENTENCES]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[segmenter.cut(sentence) for sentence in SENTENCES]] * 4


def test_a_process_that_cuts_never_imports_jieba(cache, segmenter):
    """Neither jieba nor pkg_resources is loaded, and nothing is said on any stream."""
    segmenter.cut("先把缓存写好")
    code = (
        "import sys; from pathlib import Path; from pipimem.text.segmentation import Segmenter\n"
        f"assert Segmenter(Path({str(cache)!r})).cut('上线窗口') == ['上线', '窗口']\n"
        "assert not {'jieba', 'pkg_resources', 'platformdirs'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (cache / CACHE_NAME).exists()
