"""What answers nothing is no excerpt; what answers shortly is."""

from __future__ import annotations

import pytest
from pipimem.recall.transcript.quotable import is_filler
from pipimem.text.words.index_words import Words


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("when is the sound check?", "ok"),
        ("when is the sound check?", "Noted!"),
        ("when is the sound check?", "When is the sound check?"),
        ("when is the sound check?", "when's the sound check again?"),
        ("when is the sound check?", "okay, the sound check 👍"),
        ("when is the sound check?", "I know nothing about that."),
        ("when is the sound check?", "Got it, thanks a lot! I'll keep that in mind."),
        ("周会什么时候开？", "好的"),
        ("周会什么时候开？", "好的，收到，谢谢！"),
        ("周会什么时候开？", "周会什么时候开"),
        ("周会什么时候开？", "嗯嗯，已经记下了。"),
        ("周会什么时候开？", "这里没有相关的记录。"),
    ],
)
def test_an_acknowledgement_or_the_question_again_is_filler(
    words: Words, asked: str, text: str
) -> None:
    """It would cost the tokens of an answer."""
    assert is_filler(text, asked, words)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("when is the sound check?", "ok, at half past four"),
        ("when is the sound check?", "The sound check is on Friday."),
        ("when is the sound check?", "4"),
        ("what did Ann tell us about the sound check?", "Ann told us: sound check!"),
        ("is there a sound check?", "no"),
        ("is there a sound check?", "Yes!"),
        ("is there a sound check?", "There isn't a sound check."),
        ("周会什么时候开？", "三点"),
        ("周会什么时候开？", "好的，周会改到周四开"),
        ("周会要开吗？", "不开"),
        ("周会要开吗？", "可以"),
        ("谁负责周会？", "好的，我来"),
        ("谁负责周会？", "老周"),
    ],
)
def test_a_short_answer_is_none(words: Words, asked: str, text: str) -> None:
    """A time, a name, a yes or a no is what was asked for."""
    assert not is_filler(text, asked, words)
