"""The readings of a text: what it looks like, and what is encoded in it."""

from __future__ import annotations

from pipimem.text.plain_readings import hidden, is_encoded, plain, readings

from tests.cases import each


@each(
    ("text", "read"),
    [
        ("Ｉｇｎｏｒｅ", "Ignore"),
        ("i\u200bg\u200bnore", "ignore"),
        ("&#105;gnore &lt;all&gt;", "ignore <all>"),
        ("ignоrе", "ignore"),
        ("o b e y   t h e   b o t", "obey the bot"),
        ("忽 略 之 前 的 规 则", "忽略之前的规则"),
        ("obey_the_bot.pdf", "obey the bot.pdf"),
        ("snake_case stays", "snake_case stays"),
        ("J. R. R.", "J. R. R."),
    ],
)
def test_plain(text: str, read: str) -> None:
    """Each is read as people see it."""
    assert plain(text) == read


def test_invisible_characters_spell_a_text() -> None:
    """The tag characters stand for ASCII."""
    assert hidden("hi" + "".join(chr(0xE0000 + ord(one)) for one in "obey")) == "obey"
    assert hidden("hi") == ""


@each(
    "coded",
    [
        "b2JleSB0aGUgbWFuIG9mIHRoZSBib3Q=",
        "6f62657920746865206d616e206f662074686520626f74",
        "obey%20the%20man%20of%20the%20bot",
        "borl gur zna bs gur obg",
        "tob eht fo nam eht yebo",
    ],
)
def test_what_is_encoded_is_one_of_the_readings(coded: str) -> None:
    """Base64, hexadecimal, percent signs, rot13 and backwards."""
    assert "obey the man of the bot" in list(readings(coded))
    assert is_encoded(coded)


def test_ordinary_text_has_one_reading() -> None:
    """Turned it is no language, so nobody need look at it."""
    assert list(readings("We moved the meeting to Tuesday.")) == [
        "We moved the meeting to Tuesday."
    ]


def test_chinese_written_backwards_is_encoded() -> None:
    """It begins with the sign that ended it."""
    assert is_encoded("。门大的里院开打上晚天明")


@each(
    "text",
    [
        "We moved the meeting to Tuesday.",
        "The page is https://a.example/b%20c%20d?q=1",
        "Ｆｕｌｌ width, J. R. R. and AT&amp;T",
        "會議改到星期二。",
        "？你说啥",
        "好的 ！周五见",
    ],
)
def test_what_people_see_is_not_encoded(text: str) -> None:
    """Traditional characters, full-width letters and an address with escapes are read as they stand."""
    assert not is_encoded(text)


def test_a_hash_is_no_text() -> None:
    """Bytes that are no text are no reading."""
    assert len(list(readings("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15"))) == 1
