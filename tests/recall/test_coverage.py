"""A text that holds every word of a short question."""

from __future__ import annotations

from pipimem.recall.coverage import is_noun_phrase, question_words
from pipimem.text.words.index_words import Words

from tests.cases import each


@each(
    ("question", "text"),
    [
        ("老马的分机号码是多少？", "老马的分机8023"),
        ("老马分机", "老马的分机8023"),
        ("钥匙在哪里？", "钥匙在花盆下面"),
        ("快递放哪了？", "快递放门卫那了"),
        ("小李的生日是几月几号？", "小李生日3月5号"),
        ("小李哪天生日？", "小李生日3月5号"),
        ("X光现在谁负责？", "X光以后由阿凯和晓峰负责"),
        ("發票抬頭是什麼？", "发票抬头写鲸鱼科技"),
        ("locker 31?", "locker 31 belongs to Zoë"),
        ("whose is locker 31?", "locker 31 belongs to Zoë"),
        ("what time is the ferry?", "ferry at nine"),
    ],
)
def test_words_of_asking_are_never_missing(words: Words, question: str, text: str) -> None:
    """However the question is cut, and in either kind of Chinese characters."""
    assert question_words(question, words).all_stand_in(text, words.words(text), words)


@each(
    ("question", "text"),
    [
        ("locker 31?", "locker 30 belongs to Bram"),
        ("老马的车牌是多少？", "老马的分机8023"),
        ("what time is it?", "it is time to go"),
        ("现在几点？", "现在开会"),
        ("谁？", "谁来了"),
    ],
)
def test_what_lacks_a_word_is_no_answer(words: Words, question: str, text: str) -> None:
    """Nor is anything for a question of common words alone."""
    assert not question_words(question, words).all_stand_in(text, words.words(text), words)


@each(
    ("text", "is_one"),
    [
        ("发票抬头", True),
        ("wifi password", True),
        ("office wifi密码", True),
        ("发票", False),
        ("好期待周末", False),
        ("sounds like a plan", False),
        ("you're amazing", False),
    ],
)
def test_a_noun_phrase_holds_nothing_but_words_that_mean_something(
    words: Words, text: str, *, is_one: bool
) -> None:
    """Two at least."""
    assert is_noun_phrase(text, words) is is_one
