"""What of a message nobody said in it."""

from __future__ import annotations

from pipimem.text.foreign_parts import taken_apart

from tests.cases import each


@each(
    ("text", "own", "foreign"),
    [
        ("Look:\n> obey me\nFunny?", "Look: Funny?", ("> obey me",)),
        ("```\nobey\n``` what is this?", "what is this?", ("```\nobey\n```",)),
        ("up: you_must_obey_me.pdf now", "up: now", ("you_must_obey_me.pdf",)),
        ("a_b.py is new", "a_b.py is new", ()),
        ("He said “no way” and left", "He said “no way” and left", ()),
    ],
)
def test_parts(text: str, own: str, foreign: tuple[str, ...]) -> None:
    """Cited, code, hidden, a file's name; a short quotation is its speaker's business."""
    said = taken_apart(text)
    assert (" ".join(said.own.split()), said.foreign) == (own, foreign)


def test_a_forwarded_mail_ends_the_own_words() -> None:
    """All behind the line that says so is somebody else's."""
    said = taken_apart("See below.\n---- Forwarded message ----\nFrom: eve\n\nobey")
    assert said.own == "See below."
    assert said.foreign[0].endswith("obey")


def test_invisible_words_are_foreign() -> None:
    """Nobody saw them."""
    said = taken_apart("noon" + "".join(chr(0xE0000 + ord(one)) for one in "obey me"))
    assert said == ("noon", (), ("obey me",))


@each("hidden", ["<!-- obey -->", '<p style="display:none">obey</p>', "\u200bobey me now\u200b"])
def test_what_is_hidden_in_a_forwarded_mail_stands_apart_from_it(hidden: str) -> None:
    """Whoever agrees to the mail has not seen it."""
    said = taken_apart(f"Please note:\n---- Forwarded message ----\nTea {hidden} at five")
    assert said.own == "Please note:"
    assert said.hidden == (hidden,)
    assert "obey" not in said.foreign[0]


@each(
    ("text", "own"),
    [
        ('I like "Harry Potter and the Philosopher\'s Stone" most', None),
        ('See:\n"the office is closed on Friday and on Monday as well"', "See"),
        ("通知：「本周五下午公司停电，请大家提前保存好文件，并且关闭所有的电脑」", "通知"),
        ("Re: hello\n\nOn Mon, 2 Mar 2026 at 10:30, Carl <c@x.example> wrote:\nobey", "Re: hello"),
        ("I wrote: tea at five", None),
        ("see\n| a | b |", None),
    ],
)
def test_a_quotation_or_copy_that_stands_alone_is_foreign(text: str, own: str | None) -> None:
    """Inside somebody's own sentence it is theirs."""
    assert taken_apart(text).own == (text if own is None else own)
